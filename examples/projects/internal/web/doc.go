// Package web is what the pages and the JSON interface share: request ids, the log
// line of a request, deadlines, the guard against requests that other sites make,
// and the addresses of files.
package web
