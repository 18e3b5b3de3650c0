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
	data BYTEA NOT NULL,
	CONSTRAINT dictionary_pkey PRIMARY KEY (id)
);

CREATE TABLE object (
	id INTEGER NOT NULL,
	cluster_id SMALLINT NOT NULL,
	group_id INTEGER NOT NULL,
	kind_id INTEGER NOT NULL,
	namespace_id INTEGER NOT NULL,
	key BYTEA NOT NULL,
	name TEXT NOT NULL,
	uid TEXT NOT NULL,
	CONSTRAINT object_pkey PRIMARY KEY (id),
	CONSTRAINT object_key_key UNIQUE (key)
);

CREATE TABLE branch (
	id SMALLINT NOT NULL,
	name TEXT NOT NULL,
	parent_id SMALLINT,
	fork BIGINT NOT NULL,
	genesis BYTEA NOT NULL,
	CONSTRAINT branch_pkey PRIMARY KEY (id),
	CONSTRAINT branch_name_key UNIQUE (name)
);

CREATE TABLE head (
	branch_id SMALLINT NOT NULL,
	position BIGINT NOT NULL,
	revision BIGINT NOT NULL,
	batch BIGINT NOT NULL,
	recorded_at BIGINT NOT NULL,
	hash BYTEA NOT NULL,
	CONSTRAINT head_pkey PRIMARY KEY (branch_id)
);

CREATE TABLE batch (
	branch_id SMALLINT NOT NULL,
	number BIGINT NOT NULL,
	first BIGINT NOT NULL,
	last BIGINT NOT NULL,
	recorded_at BIGINT NOT NULL,
	merkle_root BYTEA NOT NULL,
	previous BYTEA NOT NULL,
	hash BYTEA NOT NULL,
	marks BYTEA NOT NULL,
	CONSTRAINT batch_pkey PRIMARY KEY (branch_id, number),
	CONSTRAINT batch_branch_id_last_key UNIQUE (branch_id, last)
);

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
	identity BYTEA,
	CONSTRAINT event_pkey PRIMARY KEY (branch_id, position)
);

CREATE UNIQUE INDEX event_version ON event (branch_id, revision, object_id, effect) WHERE revision IS NOT NULL;

CREATE UNIQUE INDEX event_identity ON event (branch_id, effect, identity) WHERE identity IS NOT NULL;

CREATE INDEX event_object ON event (branch_id, object_id, position);

CREATE TABLE payload_block (
	branch_id SMALLINT NOT NULL,
	first BIGINT NOT NULL,
	last BIGINT NOT NULL,
	codec SMALLINT NOT NULL,
	dictionary_id INTEGER,
	sizes BYTEA NOT NULL,
	data BYTEA NOT NULL,
	CONSTRAINT payload_block_pkey PRIMARY KEY (branch_id, first)
);

ALTER TABLE payload_block ALTER COLUMN data SET STORAGE EXTERNAL;

ALTER TABLE payload_block SET (toast_tuple_target = 8160);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'the log is append-only: % rows never change', TG_TABLE_NAME; END $$;

CREATE TRIGGER event_refuse_change BEFORE UPDATE OR DELETE OR TRUNCATE ON event
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER payload_block_refuse_change BEFORE UPDATE OR DELETE OR TRUNCATE ON payload_block
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER batch_refuse_change BEFORE UPDATE OR DELETE OR TRUNCATE ON batch
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE checkpoint (
	branch_id SMALLINT NOT NULL,
	cluster_id SMALLINT NOT NULL,
	version INTEGER NOT NULL,
	revision BIGINT NOT NULL,
	known BIGINT NOT NULL,
	data BYTEA NOT NULL,
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
	data BYTEA NOT NULL,
	CONSTRAINT fact_block_pkey PRIMARY KEY (branch_id, cluster_id, version, first)
);

ALTER TABLE checkpoint ALTER COLUMN data SET STORAGE EXTERNAL;

ALTER TABLE fact_block ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE clock_block (
	branch_id SMALLINT NOT NULL,
	cluster_id SMALLINT NOT NULL,
	version INTEGER NOT NULL,
	part SMALLINT NOT NULL,
	number INTEGER NOT NULL,
	known BIGINT NOT NULL,
	data BYTEA NOT NULL,
	CONSTRAINT clock_block_pkey PRIMARY KEY (branch_id, cluster_id, version, part, number)
);

ALTER TABLE clock_block ALTER COLUMN data SET STORAGE EXTERNAL;

DROP TABLE checkpoint;

DROP TABLE fact_block;

DROP TABLE clock_block;

CREATE TABLE checkpoint (
	branch_id SMALLINT NOT NULL,
	cluster_id SMALLINT NOT NULL,
	version INTEGER NOT NULL,
	revision BIGINT NOT NULL,
	known BIGINT NOT NULL,
	hash BYTEA NOT NULL,
	data BYTEA NOT NULL,
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
	hash BYTEA NOT NULL,
	data BYTEA NOT NULL,
	CONSTRAINT fact_block_pkey PRIMARY KEY (branch_id, cluster_id, version, first)
);

CREATE TABLE clock_block (
	branch_id SMALLINT NOT NULL,
	cluster_id SMALLINT NOT NULL,
	version INTEGER NOT NULL,
	part SMALLINT NOT NULL,
	number INTEGER NOT NULL,
	known BIGINT NOT NULL,
	hash BYTEA NOT NULL,
	data BYTEA NOT NULL,
	CONSTRAINT clock_block_pkey PRIMARY KEY (branch_id, cluster_id, version, part, number)
);

ALTER TABLE checkpoint ALTER COLUMN data SET STORAGE EXTERNAL;

ALTER TABLE fact_block ALTER COLUMN data SET STORAGE EXTERNAL;

ALTER TABLE clock_block ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE seal (
	branch_id SMALLINT NOT NULL,
	cluster_id SMALLINT NOT NULL,
	version INTEGER NOT NULL,
	part SMALLINT NOT NULL,
	rows BYTEA NOT NULL,
	batch BYTEA NOT NULL,
	CONSTRAINT seal_pkey PRIMARY KEY (branch_id, cluster_id, version, part)
);
