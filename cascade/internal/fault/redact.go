package fault

import (
	"github.com/onerow/onerow/internal/dbtext"
	"github.com/onerow/onerow/internal/redact"
)

// MaxText is what fits into the columns for errors and reasons of jobs and parked rows, in bytes.
const MaxText = 2000

// Redact is the text of an error as it is stored and logged.
func Redact(err error) string { return dbtext.Fit(redact.Text(err.Error()), MaxText) }
