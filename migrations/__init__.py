"""The steps by which a log's tables change; :mod:`plinian.engine.log.migrating` takes them."""
