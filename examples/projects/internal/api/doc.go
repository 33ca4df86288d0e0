// Package api is the JSON interface of the example application.
//
//	GET    /api/users                          accounts, for those who look around
//	POST   /api/users                          {"name","plan"}    201
//	PUT    /api/users/{id}/plan                {"plan"}           200
//	POST   /api/users/{id}/projects            {"name"}           201 · 409 with existing_id
//	                                           Idempotency-Key    201 replayed · 422 · 410
//	GET    /api/users/{id}/projects?state=&cursor=&limit=         200
//	GET    /api/projects/{id}                                     200
//	PATCH  /api/projects/{id}                  {"name"}           200 · 409
//	DELETE /api/projects/{id}?grace=30s                           202 {"job_id"} · 204
//	POST   /api/projects/{id}/archive, activate, cancel-delete    200 · 409 too late
//	GET    /api/projects/{id}/screens?state=&cursor=&limit=       200
//	PUT    /api/projects/{id}/screens/{filename}?on_conflict=     201 · 200 new version · 409
//	GET    /api/projects/{id}/screens/{filename}                  200, by any variation
//	POST   /api/screens/{id}/archive, activate                    200
//	GET    /api/screens/{id}/comments                             200
//	POST   /api/screens/{id}/comments          {"body"}           201
//	GET    /api/jobs/{id}                                         200
//	GET    /healthz                                               200 · 503
//
// Every error is an RFC 9457 problem+json, that of an unknown address or method too; see package problem.
// JSON bodies are read strictly: valid Unicode, one object, known fields in their spelling and once each, at
// most 128 KiB; the error says where.
package api
