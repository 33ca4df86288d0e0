CREATE VIEW live_project AS SELECT name FROM project;
