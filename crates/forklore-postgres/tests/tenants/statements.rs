//! What a hostile client sends. `{owner}` is the role of the owner, `{me}` that of the client.

/// Statements that would show something of the other tenant to a login without row security.
pub(crate) const READS: &[&str] = &[
    "SELECT * FROM forklore.session",
    "SELECT * FROM forklore.event WHERE tenant = 'zebra'",
    "TABLE forklore.name",
    "TABLE forklore.store",
    "TABLE forklore.login",
    "SELECT record FROM forklore.operation",
    "SELECT record FROM forklore.source",
    "SELECT key FROM forklore.source_key",
    "SELECT spans FROM forklore.source_step",
    "SELECT * FROM forklore.source_record",
    "SELECT * FROM forklore.attachment",
    "SELECT convert_from(bytes, 'UTF8') FROM forklore.attachment_part",
    "SELECT * FROM forklore.attachment_upload",
    "SELECT * FROM forklore.attachment_pin",
    "SELECT string_agg(data, '') FROM forklore.event",
    "SELECT s::text, row_to_json(s) FROM forklore.session s",
    "SELECT upper(id) FROM forklore.session WHERE id LIKE '%zebr_%'",
    "SELECT * FROM forklore.event WHERE ctid >= '(0,0)'",
    "SELECT * FROM forklore.event TABLESAMPLE SYSTEM (100)",
    "SELECT 'zebr' || 'a' WHERE EXISTS (SELECT FROM forklore.store WHERE tenant = 'zebra')",
    "SELECT 'zebr' || 'a' FROM (SELECT count(DISTINCT tenant) n FROM forklore.event) e WHERE n > 1",
    "WITH RECURSIVE r AS (SELECT data FROM forklore.event UNION SELECT data FROM r) TABLE r",
    "SELECT e.data FROM forklore.name n, LATERAL (SELECT * FROM forklore.event e
     WHERE e.family = n.family) e",
    "SELECT first_value(tenant) OVER (ORDER BY tenant DESC) FROM forklore.event",
    "SELECT * FROM forklore.session FOR UPDATE",
    "SELECT * FROM forklore.session FOR KEY SHARE",
    "UPDATE forklore.session SET crc = crc RETURNING *",
    "DELETE FROM forklore.event RETURNING data",
    "COPY forklore.session TO STDOUT",
    "COPY (SELECT data FROM forklore.event) TO STDOUT",
    "PREPARE p AS SELECT data FROM forklore.event WHERE tenant = $1; EXECUTE p ('zebra')",
    "BEGIN; DECLARE c CURSOR FOR SELECT * FROM forklore.session; FETCH ALL FROM c; ROLLBACK",
    "CREATE TEMP TABLE t AS SELECT * FROM forklore.event; TABLE t",
    "CREATE TEMP VIEW v AS SELECT * FROM forklore.session; TABLE v",
    "CREATE SCHEMA mine; CREATE VIEW mine.v WITH (security_barrier = false) AS
     SELECT data FROM forklore.event; TABLE mine.v",
    "CREATE SCHEMA mine; CREATE MATERIALIZED VIEW mine.v AS SELECT data FROM forklore.event;
     TABLE mine.v",
    "SELECT query_to_xml('SELECT * FROM forklore.session', true, true, '')",
    "SELECT schema_to_xml('forklore', true, true, '')",
    "SELECT ts_stat('SELECT to_tsvector(''simple'', data) FROM forklore.event')",
    "DO $$ DECLARE d text; BEGIN FOR d IN SELECT data FROM forklore.event LOOP
     RAISE NOTICE '%', d; END LOOP; END $$",
    "CREATE FUNCTION pg_temp.f() RETURNS SETOF text LANGUAGE sql SECURITY DEFINER
     AS 'SELECT data FROM forklore.event'; SELECT pg_temp.f()",
    "CREATE FUNCTION pg_temp.f() RETURNS SETOF text LANGUAGE plpgsql SET row_security = off
     AS 'BEGIN RETURN QUERY SELECT data FROM forklore.event; END'; SELECT pg_temp.f()",
    // A cheap condition is checked first, and tells what it is given.
    "CREATE FUNCTION pg_temp.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001
     AS 'BEGIN RAISE NOTICE ''%'', $1; RETURN true; END';
     SELECT count(*) FROM forklore.event WHERE pg_temp.leak(data)",
    "CREATE SCHEMA mine; CREATE FUNCTION mine.leak(text, text) RETURNS boolean LANGUAGE plpgsql
     COST 0.0000001 AS 'BEGIN RAISE NOTICE ''%'', $1; RETURN true; END';
     CREATE OPERATOR mine.<<< (FUNCTION = mine.leak, LEFTARG = text, RIGHTARG = text);
     SELECT count(*) FROM forklore.session WHERE id OPERATOR(mine.<<<) ''",
    // An operator of the caller's that a policy might find instead of the one it means.
    "CREATE SCHEMA mine; CREATE FUNCTION mine.yes(text, text) RETURNS boolean LANGUAGE sql
     AS 'SELECT true'; CREATE OPERATOR mine.= (FUNCTION = mine.yes, LEFTARG = text, RIGHTARG = text);
     SET search_path = mine, pg_catalog; SELECT * FROM forklore.session",
    "CREATE FUNCTION pg_temp.pg_has_role(name, oid, text) RETURNS boolean LANGUAGE sql
     AS 'SELECT true'; SET search_path = pg_temp, pg_catalog; SELECT * FROM forklore.session",
    "CREATE TEMP TABLE login AS SELECT 'zebra' AS tenant, session_user::text AS login;
     SET search_path = pg_temp, forklore; SELECT * FROM forklore.session",
    "SELECT data::int FROM forklore.event WHERE tenant = 'zebra'",
    "SELECT tenant::int FROM forklore.store WHERE tenant > 'b'",
    "SET forklore.tenant = 'zebra'; SELECT * FROM forklore.session WHERE tenant = 'zebra'",
    "BEGIN; SELECT FROM set_config('forklore.tenant', 'zeb' || 'ra', true);
     SELECT * FROM forklore.session; ROLLBACK",
    "SET row_security = off; SELECT * FROM forklore.session",
    "SET ROLE {owner}; SELECT * FROM forklore.session",
    "SET SESSION AUTHORIZATION {owner}; SELECT * FROM forklore.session",
    "RESET SESSION AUTHORIZATION; SELECT * FROM forklore.session",
    // What the owner of the tables made without a thought of tenants.
    "SELECT * FROM reports.sessions",
    "SELECT reports.texts()",
    "UPDATE reports.sessions SET crc = crc RETURNING id",
];

/// Statements that would change something of the other tenant, or the protection itself.
pub(crate) const CHANGES: &[&str] = &[
    "UPDATE forklore.session SET label = 'mine'",
    "UPDATE forklore.session SET header = '' WHERE tenant = 'zebra'",
    "UPDATE forklore.event SET data = 'forged'",
    "UPDATE forklore.store SET operations = 7 WHERE tenant = 'zebra'",
    "UPDATE forklore.attachment_part SET tenant = 'zebra', upload = 'forged'",
    "UPDATE forklore.event SET tenant = 'zebra', seq = seq + 100 WHERE tenant = 'apple'",
    "UPDATE reports.sessions SET label = 'mine'",
    "DELETE FROM forklore.event",
    "DELETE FROM forklore.name WHERE tenant = 'zebra'",
    "DELETE FROM reports.sessions",
    "DELETE FROM forklore.event USING forklore.session s WHERE s.id = event.session",
    "INSERT INTO forklore.operation VALUES ('zebra', 77, 'forged', 0)",
    "INSERT INTO forklore.operation VALUES ('zebra', 900009, 'forged', 0)
     ON CONFLICT (tenant, id) DO UPDATE SET record = 'forged'",
    "INSERT INTO forklore.source_key SELECT 'zebra', kind, key, 1 FROM forklore.source_key
     UNION ALL SELECT 'zebra', 3, 'x', 1",
    "MERGE INTO forklore.operation o USING (VALUES ('zebra', 900009)) v (tenant, id)
     ON o.tenant = v.tenant AND o.id = v.id WHEN MATCHED THEN DELETE
     WHEN NOT MATCHED THEN INSERT VALUES ('zebra', 78, 'forged', 0)",
    "WITH gone AS (DELETE FROM forklore.attachment RETURNING *) SELECT count(*) FROM gone",
    "TRUNCATE forklore.event",
    "TRUNCATE forklore.attachment_part, forklore.login",
    "INSERT INTO forklore.login VALUES ('zebra', session_user)",
    "UPDATE forklore.login SET tenant = 'zebra'",
    "DELETE FROM forklore.login",
    "INSERT INTO forklore.layout VALUES ('distributed', 'citus')",
    "INSERT INTO forklore.migration VALUES (99)",
    "DROP TABLE forklore.attachment_pin",
    "DROP SCHEMA forklore CASCADE",
    "ALTER TABLE forklore.session DISABLE ROW LEVEL SECURITY",
    "ALTER TABLE forklore.session NO FORCE ROW LEVEL SECURITY",
    "ALTER TABLE forklore.session OWNER TO {me}",
    "DROP POLICY tenant ON forklore.session",
    "CREATE POLICY mine ON forklore.session USING (true)",
    "ALTER POLICY tenant ON forklore.session USING (true)",
    "CREATE RULE mine AS ON INSERT TO forklore.event DO ALSO SELECT 1",
    "CREATE FUNCTION pg_temp.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
     CREATE TRIGGER mine BEFORE INSERT ON forklore.event FOR EACH ROW EXECUTE FUNCTION pg_temp.f()",
    "CREATE INDEX mine ON forklore.event (data)",
    "CREATE TABLE forklore.mine (tenant text)",
    "CREATE FUNCTION forklore.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "GRANT ALL ON ALL TABLES IN SCHEMA forklore TO {me} WITH GRANT OPTION; GRANT SELECT ON forklore.store TO PUBLIC",
    "GRANT {owner} TO {me}",
    "ALTER ROLE {me} BYPASSRLS",
    "ALTER ROLE {b} SET search_path = mine",
];

/// Statements that a superuser is not compared with: what they reveal, they reveal by an error, an
/// estimate or a catalogue.
pub(crate) const PROBES: &[&str] = &[
    "INSERT INTO forklore.name VALUES ('apple', 'x', 'x', 'x') RETURNING (SELECT min(data) FROM forklore.event WHERE tenant <> 'apple')",
    "CREATE SCHEMA mine; CREATE TABLE mine.t (tenant text REFERENCES forklore.store)",
    "CREATE SCHEMA mine; CREATE TABLE mine.t () INHERITS (forklore.session); TABLE mine.t",
    "CREATE STATISTICS mine ON tenant, id FROM forklore.session",
    "SELECT * FROM pg_stats WHERE schemaname = 'forklore'",
    "SELECT * FROM pg_stats_ext",
    "SELECT stavalues1::text FROM pg_statistic",
    "SELECT datname, usename, application_name, state, query FROM pg_stat_activity",
    "SELECT * FROM pg_locks",
    "SELECT pg_get_expr(conbin, conrelid) FROM pg_constraint",
    "SELECT pg_read_file('base/1/1259')",
    "SELECT pg_ls_dir('base')",
    "COPY forklore.event TO PROGRAM 'cat'",
    "COPY forklore.event TO '/tmp/forklore-tenants'",
    "COPY forklore.event (tenant) FROM STDIN",
    "SELECT lo_import('/etc/hostname')",
    "SET ROLE {b}; SELECT * FROM forklore.session",
    "LOAD 'auto_explain'",
    "CREATE EXTENSION dblink",
    "SELECT pg_logical_slot_peek_changes('x', NULL, NULL)",
    "SELECT * FROM pg_create_logical_replication_slot('x', 'test_decoding')",
    "DO $$ DECLARE t text; BEGIN FOR t IN SELECT reltoastrelid::regclass FROM pg_class
     WHERE relnamespace = 'forklore'::regnamespace AND reltoastrelid > 0
     LOOP EXECUTE 'SELECT count(*) FROM ' || t; END LOOP; END $$",
    "SELECT pg_notify('forklore', 'x'); LISTEN forklore; SELECT pg_listening_channels()",
];
