package output

// ProgramName is the command's, in all that it and the page say.
const ProgramName = "cascade-worker"

// EnvToken stands in for --http-token; several are set apart by spaces.
const EnvToken = "ONEROW_HTTP_TOKEN" //nolint:gosec // a name, no credential

// EnvReadToken stands in for --http-read-token, likewise.
const EnvReadToken = "ONEROW_HTTP_READ_TOKEN" //nolint:gosec // a name, no credential
