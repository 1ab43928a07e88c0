package console

import (
	"context"
	"net/http"
)

// Entrance lets users into a console.
type Entrance interface {
	// Host reports whether browsers may ask for the console under a host, with its port.
	Host(host string) bool
	// Posts are the paths that take forms, which only pages of the console may send.
	Posts() []string
	// Open adds what is there for those who are not logged in.
	Open(routes *http.ServeMux)
	// Enter returns the visitor who has sent a request, or nil if the user is not logged in and
	// the request was answered with that.
	Enter(w http.ResponseWriter, r *http.Request) Visitor
}

// Visitor is a user of a console.
type Visitor interface {
	// Name names the user among all; it is empty for the only user of a console.
	Name() string
	// LogsOut reports whether the user can end the session: that of a proxy is the proxy's.
	LogsOut() bool
	// View returns what the user may see now, as far as it matters for some namespaces. An error ends
	// what is shown: the rights are not known, or the user is not logged in any more.
	View(ctx context.Context, namespaces []string) (View, error)
	// Actor returns what acts with the rights of the user, for a request; nil where the user only reads.
	Actor(r *http.Request) (Actor, error)
}
