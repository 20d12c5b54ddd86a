-- Operations. k is operation << 24 | step. The body of step 0 is the operation as JSON, that of a
-- later step its further outcomes, and nothing if the record was damaged and erased.
CREATE TABLE operation (k INTEGER PRIMARY KEY, body TEXT NOT NULL, crc INTEGER NOT NULL);
