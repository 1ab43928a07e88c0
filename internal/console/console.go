package console

import (
	"context"
	"embed"
	"encoding/json"
	"io/fs"
	"net/http"
	"time"

	"go.landscaper.dev/internal/landscape/inspect"
)

// Source is a landscape that is kept up to date.
type Source interface {
	// Snapshot returns the present state.
	Snapshot() inspect.Snapshot
	// Changed receives a value after every change.
	Changed() <-chan struct{}
	// Disconnected returns why the state may be out of date, or nil.
	Disconnected() error
}

// Options are what a console shows, and to whom.
type Options struct {
	// Source is the landscape.
	Source Source
	// Where names the cluster, Namespace the namespace that is shown, empty for all.
	Where, Namespace string
	// Entrance lets users in, and knows what they may see.
	Entrance Entrance
	// Collect is how long changes are collected that follow others; the first one, and all with 0, are
	// collected for a moment.
	Collect time.Duration

	// limited says that a visitor does not see all namespaces.
	limited bool

	// salt keeps fingerprints of what is concealed from being guessed.
	salt []byte
}

// bundle is what "make console" builds from web/src.
//
//go:embed web/dist
var bundle embed.FS

// New returns the handler of a console. It follows the landscape until the context ends.
func New(ctx context.Context, options Options) (http.Handler, error) {
	assets, err := fs.Sub(bundle, "web/dist")
	if err != nil {
		return nil, err
	}
	b := newBoard(options)
	go b.follow(ctx)

	inside := http.NewServeMux()
	page := func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, assets, "console.html") }
	// Every view has an address of its own, and the same page draws them all.
	inside.HandleFunc("GET /{$}", page)
	inside.HandleFunc("GET /n/{namespace}/{name}", page)
	inside.HandleFunc("GET /plan/{namespace}/{name}", page)
	inside.HandleFunc("GET /live/overview", b.stream(func(s *state, r *http.Request) any { return s.overview(r.FormValue("q")) }))
	inside.HandleFunc("GET /live/n/{namespace}/{name}", b.stream(func(s *state, r *http.Request) any {
		return s.page(r.PathValue("namespace"), r.PathValue("name"))
	}))

	for path, view := range views {
		inside.HandleFunc("GET "+path, page)
		inside.HandleFunc("GET /live"+path, b.stream(view))
	}

	b.addActing(inside)
	inside.HandleFunc("GET /session", session)

	outside := http.NewServeMux()
	options.Entrance.Open(outside)
	for _, name := range []string{"app.js", "app.css", "icon.svg"} {
		outside.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, assets, name) })
	}
	outside.Handle("/", admit(options.Entrance, inside))
	return protect(options.Entrance, outside), nil
}

type visitorKey struct{}

// admit lets visitors through.
func admit(entrance Entrance, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if visitor := entrance.Enter(w, r); visitor != nil {
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), visitorKey{}, visitor)))
		}
	})
}

// visitorOf returns the visitor that admit has let through.
func visitorOf(r *http.Request) Visitor { return r.Context().Value(visitorKey{}).(Visitor) }

// session says who is logged in. Pages ask it when they have lost their connection, too, because a
// stream does not say why it has ended.
func session(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	visitor := visitorOf(r)
	_ = json.NewEncoder(w).Encode(map[string]any{"user": visitor.Name(), "logsOut": visitor.LogsOut()}) // a client that has left needs no answer
}
