package httpkey

import "net/http"

// StoredOneCommit is the default of [Config].Stored for [Middleware.OneCommit]: a success, a redirection to
// the outcome, and an error of the client's except a refusal, see [Refused]. What a 5xx has written is
// rolled back, so nothing was done and the next request may try.
func StoredOneCommit(status int) bool {
	return status < http.StatusInternalServerError && !Refused(status)
}

// keeps asks Config.Stored, or the form's default.
func (m *Middleware) keeps(status int, standard func(int) bool) bool {
	if m.cfg.Stored != nil {
		return m.cfg.Stored(status)
	}
	return standard(status)
}

// StoredTwoStep is the default of [Config].Stored for [Middleware.TwoStep]: all but a refusal, see [Refused].
// A 5xx is stored too: the handler had begun, and nobody knows how far it came.
func StoredTwoStep(status int) bool { return !Refused(status) }

// sentElsewhere says whether a status asks the client to send the same request to another place.
func sentElsewhere(status int) bool {
	return status == http.StatusTemporaryRedirect || status == http.StatusPermanentRedirect
}

// Refused says whether a status means that the request was turned away before its work began: it is to be
// sent to another place as it is (307, 308), it is not valid
// (400, 405, 406, 411 to 417, 421, 422, 426, 431), the client is not known or not allowed to (401, 403, 407),
// it collides with another one or came too early (408, 409, 423, 425, 428), or too often (429). Others, as
// 402 Payment Required and 404 Not Found, are results.
func Refused(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusMisdirectedRequest, http.StatusUnprocessableEntity, http.StatusLocked,
		http.StatusTooEarly, http.StatusUpgradeRequired, http.StatusPreconditionRequired, http.StatusTooManyRequests, http.StatusRequestHeaderFieldsTooLarge:
		return true
	}
	return sentElsewhere(status) || status >= http.StatusMethodNotAllowed && status <= http.StatusConflict || status >= http.StatusLengthRequired && status <= http.StatusExpectationFailed
}
