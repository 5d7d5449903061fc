-- Once, as a superuser, in the database that is to be captured: docs/postgresql.md.
create role debezium with login replication password 'change me';

-- by rows in it Debezium is asked for a snapshot, and marks where one lies in the stream
create table signals (id text primary key, type text, data text);

create publication shop for table customers, orders, order_lines, signals;

grant select on customers, orders, order_lines to debezium;
grant select, insert, delete on signals to debezium;

-- large values in rows whose key may change
alter table order_lines replica identity full;
