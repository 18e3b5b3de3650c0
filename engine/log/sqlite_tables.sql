CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);

CREATE TABLE log (
	id SMALLINT NOT NULL, 
	hash_algorithm TEXT NOT NULL, 
	plinian TEXT NOT NULL, 
	CONSTRAINT log_pkey PRIMARY KEY (id)
);

CREATE TABLE cluster (
	id SMALLINT NOT NULL, 
	name TEXT NOT NULL, 
	CONSTRAINT cluster_pkey PRIMARY KEY (id), 
	CONSTRAINT cluster_name_key UNIQUE (name)
);

CREATE TABLE symbol (
	id INTEGER NOT NULL, 
	text TEXT NOT NULL, 
	CONSTRAINT symbol_pkey PRIMARY KEY (id), 
	CONSTRAINT symbol_text_key UNIQUE (text)
);

CREATE TABLE dictionary (
	id INTEGER NOT NULL, 
	data BLOB NOT NULL, 
	CONSTRAINT dictionary_pkey PRIMARY KEY (id)
);

CREATE TABLE object (
	id INTEGER NOT NULL, 
	cluster_id SMALLINT NOT NULL, 
	group_id INTEGER NOT NULL, 
	kind_id INTEGER NOT NULL, 
	namespace_id INTEGER NOT NULL, 
	"key" BLOB NOT NULL, 
	name TEXT NOT NULL, 
	uid TEXT NOT NULL, 
	CONSTRAINT object_pkey PRIMARY KEY (id), 
	CONSTRAINT object_key_key UNIQUE ("key")
);

CREATE TABLE branch (
	id SMALLINT NOT NULL, 
	name TEXT NOT NULL, 
	parent_id SMALLINT, 
	fork BIGINT NOT NULL, 
	genesis BLOB NOT NULL, 
	CONSTRAINT branch_pkey PRIMARY KEY (id), 
	CONSTRAINT branch_name_key UNIQUE (name)
);

CREATE TABLE head (
	branch_id SMALLINT NOT NULL, 
	position BIGINT NOT NULL, 
	revision BIGINT NOT NULL, 
	batch BIGINT NOT NULL, 
	recorded_at BIGINT NOT NULL, 
	hash BLOB NOT NULL, 
	CONSTRAINT head_pkey PRIMARY KEY (branch_id)
);

CREATE TABLE batch (
	branch_id SMALLINT NOT NULL, 
	number BIGINT NOT NULL, 
	first BIGINT NOT NULL, 
	last BIGINT NOT NULL, 
	recorded_at BIGINT NOT NULL, 
	merkle_root BLOB NOT NULL, 
	previous BLOB NOT NULL, 
	hash BLOB NOT NULL, 
	marks BLOB NOT NULL, 
	CONSTRAINT batch_pkey PRIMARY KEY (branch_id, number), 
	CONSTRAINT batch_branch_id_last_key UNIQUE (branch_id, last)
)
 WITHOUT ROWID;

CREATE TABLE event (
	branch_id SMALLINT NOT NULL, 
	effect SMALLINT NOT NULL, 
	schema SMALLINT NOT NULL, 
	position BIGINT NOT NULL, 
	revision BIGINT, 
	earliest BIGINT, 
	latest BIGINT, 
	object_id INTEGER NOT NULL, 
	kind_id INTEGER NOT NULL, 
	source_id INTEGER NOT NULL, 
	line INTEGER NOT NULL, 
	actor_id INTEGER, 
	resource_version TEXT, 
	identity BLOB, 
	CONSTRAINT event_pkey PRIMARY KEY (branch_id, position)
)
 WITHOUT ROWID;

CREATE UNIQUE INDEX event_version ON event (branch_id, revision, object_id, effect) WHERE revision IS NOT NULL;

CREATE UNIQUE INDEX event_identity ON event (branch_id, effect, identity) WHERE identity IS NOT NULL;

CREATE INDEX event_object ON event (branch_id, object_id, position);

CREATE TABLE payload_block (
	branch_id SMALLINT NOT NULL, 
	first BIGINT NOT NULL, 
	last BIGINT NOT NULL, 
	codec SMALLINT NOT NULL, 
	dictionary_id INTEGER, 
	sizes BLOB NOT NULL, 
	data BLOB NOT NULL, 
	CONSTRAINT payload_block_pkey PRIMARY KEY (branch_id, first)
);

CREATE TRIGGER event_refuse_update BEFORE update ON event
BEGIN SELECT RAISE(ABORT, 'the log is append-only: event rows never change'); END;

CREATE TRIGGER event_refuse_delete BEFORE delete ON event
BEGIN SELECT RAISE(ABORT, 'the log is append-only: event rows never change'); END;

CREATE TRIGGER payload_block_refuse_update BEFORE update ON payload_block
BEGIN SELECT RAISE(ABORT, 'the log is append-only: payload_block rows never change'); END;

CREATE TRIGGER payload_block_refuse_delete BEFORE delete ON payload_block
BEGIN SELECT RAISE(ABORT, 'the log is append-only: payload_block rows never change'); END;

CREATE TRIGGER batch_refuse_update BEFORE update ON batch
BEGIN SELECT RAISE(ABORT, 'the log is append-only: batch rows never change'); END;

CREATE TRIGGER batch_refuse_delete BEFORE delete ON batch
BEGIN SELECT RAISE(ABORT, 'the log is append-only: batch rows never change'); END;

CREATE TABLE checkpoint (
	branch_id SMALLINT NOT NULL, 
	cluster_id SMALLINT NOT NULL, 
	version INTEGER NOT NULL, 
	revision BIGINT NOT NULL, 
	known BIGINT NOT NULL, 
	hash BLOB NOT NULL, 
	data BLOB NOT NULL, 
	CONSTRAINT checkpoint_pkey PRIMARY KEY (branch_id, cluster_id, version, revision)
);

CREATE TABLE fact_block (
	branch_id SMALLINT NOT NULL, 
	cluster_id SMALLINT NOT NULL, 
	version INTEGER NOT NULL, 
	first BIGINT NOT NULL, 
	last BIGINT NOT NULL, 
	low_revision BIGINT NOT NULL, 
	high_revision BIGINT NOT NULL, 
	unrevisioned BOOLEAN NOT NULL, 
	hash BLOB NOT NULL, 
	data BLOB NOT NULL, 
	CONSTRAINT fact_block_pkey PRIMARY KEY (branch_id, cluster_id, version, first)
);

CREATE TABLE clock_block (
	branch_id SMALLINT NOT NULL, 
	cluster_id SMALLINT NOT NULL, 
	version INTEGER NOT NULL, 
	part SMALLINT NOT NULL, 
	number INTEGER NOT NULL, 
	known BIGINT NOT NULL, 
	hash BLOB NOT NULL, 
	data BLOB NOT NULL, 
	CONSTRAINT clock_block_pkey PRIMARY KEY (branch_id, cluster_id, version, part, number)
);

CREATE TABLE seal (
	branch_id SMALLINT NOT NULL, 
	cluster_id SMALLINT NOT NULL, 
	version INTEGER NOT NULL, 
	part SMALLINT NOT NULL, 
	rows BLOB NOT NULL, 
	batch BLOB NOT NULL, 
	CONSTRAINT seal_pkey PRIMARY KEY (branch_id, cluster_id, version, part)
);

ANALYZE;

INSERT INTO sqlite_stat1 VALUES ('event', 'event', '2000000 2000000 1');

INSERT INTO sqlite_stat1 VALUES ('event', 'event_identity', '500000 500000 100000 1');

INSERT INTO sqlite_stat1 VALUES ('event', 'event_object', '2000000 2000000 10 1');

INSERT INTO sqlite_stat1 VALUES ('event', 'event_version', '1500000 1500000 2 2 1');
