package clustererror

import "errors"

// The answers and requests that a connection refuses.
var (
	ErrRedirect  = errors.New("the server redirects to another address")
	ErrPlain     = errors.New("credentials would be sent without encryption")
	ErrMediaType = errors.New("the server answers with something else than JSON")
	// ErrUnreadable replaces the errors of decoders, which quote the answer.
	ErrUnreadable = errors.New("its answer cannot be read as the object that was asked for")
)

// ErrIncomplete says that a list cannot be the complete list of an API server.
var ErrIncomplete = errors.New("its list is not complete, or is not of what was asked for")

// ErrOpensOurs says that a token is good for the resource cluster.
var ErrOpensOurs = errors.New("the resource cluster accepts the token itself, so it is not sent to another one: name an audience of the target cluster in oidcConfig.audience")

// NoToken says that no token could be requested; the target cluster was not asked. The cause cannot
// be unwrapped: a NotFound of the resource cluster about a ServiceAccount would be taken for a
// NotFound of the target cluster about an object.
type NoToken struct {
	Cause error
	// Remedy is what to do, if that is known.
	Remedy string
}

// Error implements error.
func (t NoToken) Error() string { return t.Cause.Error() }
