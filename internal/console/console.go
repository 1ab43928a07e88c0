package console

import (
	"context"
	"embed"
	"io/fs"
	"net/http"

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
	// Address is host and port that the console listens on.
	Address string
	// Token is the secret of the link, which opens one session.
	Token string
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
	g, err := newGuard(options.Address, options.Token)
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
	inside.HandleFunc("GET /live/overview", b.stream(func(s *state, r *http.Request) any { return s.overview(r.FormValue("q")) }))
	inside.HandleFunc("GET /live/n/{namespace}/{name}", b.stream(func(s *state, r *http.Request) any {
		return s.page(r.PathValue("namespace"), r.PathValue("name"))
	}))

	outside := http.NewServeMux()
	outside.HandleFunc("GET /login", g.login)
	for _, name := range []string{"app.js", "app.css", "icon.svg"} {
		outside.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, assets, name) })
	}
	outside.Handle("/", g.sessions(inside))
	return g.protect(outside), nil
}
