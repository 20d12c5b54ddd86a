-- A second belt around tenants: row security by the login of the connection, whatever a statement
-- says. The first belt is that every statement of forklore names its tenant.
--
-- A login is given a tenant by a row in `login`, which only the owner of the tables can write. The
-- policies ask for `session_user`, which neither SET ROLE nor a function or view of somebody else
-- changes, and which a pooler does not change either. The owner of the tables, and who may act as
-- the owner, sees every tenant. Who is neither sees nothing.
--
-- The policy of the owner is one of its own, so that the condition for all others is one that an
-- index answers. A filter would let EXPLAIN ANALYZE count the rows that it removes.
--
-- A later step that adds a table with a tenant gives it a policy like these.

CREATE TABLE forklore.login (
    tenant text COLLATE "C",
    login text COLLATE "C",
    PRIMARY KEY (tenant, login)
);
CREATE INDEX login_name ON forklore.login (login);

-- What was decided about all tables, such as that they are distributed.
CREATE TABLE forklore.layout (
    name text COLLATE "C" PRIMARY KEY,
    value text NOT NULL
);

DO $$
DECLARE
    t record;
    owner oid := (SELECT relowner FROM pg_class WHERE oid = 'forklore.migration'::regclass);
    is_owner text := '(SELECT pg_has_role(session_user, c.relowner, ''MEMBER'') FROM pg_class c
                       WHERE c.oid = ''forklore.migration''::regclass)';
    -- As cheap as any condition of a statement, and therefore checked before it: what a statement
    -- asks is never evaluated for rows of other tenants.
    is_given text := 'tenant = (SELECT min(l.tenant) FROM forklore.login l
                                WHERE l.login = session_user)';
BEGIN
    -- Tenants read and write a partition through its table only; a dump by the owner reads it itself.
    FOR t IN
        SELECT c.oid::regclass AS name, c.relname, c.relispartition FROM pg_class c
        WHERE c.relnamespace = 'forklore'::regnamespace AND c.relkind IN ('r', 'p')
          AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant')
    LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', t.name);
        EXECUTE format('CREATE POLICY owner ON %s TO %I USING (%s)', t.name,
                       pg_get_userbyid(owner), is_owner);
        CONTINUE WHEN t.relispartition;
        EXECUTE format('CREATE POLICY tenant ON %s USING (%s)', t.name,
                       CASE t.relname WHEN 'login' THEN 'login = session_user' ELSE is_given END);
    END LOOP;

    -- The planner would copy values of all tenants into its statistics, and let EXPLAIN of any
    -- login show how frequent a value is. Every statement goes by a key, and needs none of them.
    FOR t IN
        SELECT c.oid::regclass AS name, a.attname FROM pg_class c
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        WHERE c.relnamespace = 'forklore'::regnamespace AND c.relkind IN ('r', 'p')
          AND a.atttypid IN ('text'::regtype, 'bytea'::regtype)
    LOOP
        EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS 0', t.name, t.attname);
    END LOOP;
END $$;
