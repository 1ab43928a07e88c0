package console

import "net/http"

// views are the pages beside the first one and those of Installations, by their addresses.
var views = map[string]func(*state, *http.Request) any{
	"/jobs": func(s *state, r *http.Request) any { return s.jobs(r.FormValue("q")) },
	"/compare/{namespace}/{name}": func(s *state, r *http.Request) any {
		return s.compare(r.PathValue("namespace"), r.PathValue("name"), r.FormValue("one"), r.FormValue("other"))
	},
	"/targets":                           func(s *state, r *http.Request) any { return s.targets(r.FormValue("q")) },
	"/targets/{namespace}/{name}":        func(s *state, r *http.Request) any { return s.target(r.PathValue("namespace"), r.PathValue("name")) },
	"/why/{kind}/{namespace}/{name}":     func(s *state, r *http.Request) any { return s.why(keyOf(r)) },
	"/objects/{kind}/{namespace}/{name}": func(s *state, r *http.Request) any { return s.objectPage(keyOf(r)) },
}

func keyOf(r *http.Request) valueKey {
	return valueKey{r.PathValue("kind"), r.PathValue("namespace"), r.PathValue("name")}
}
