package registry

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.landscaper.dev/internal/content/component/oci"
)

// TestTagsSince: a list that is as it was is not sent again, where the registry can tell.
func TestTagsSince(t *testing.T) {
	for _, test := range []struct {
		reason, validator string
		serve             http.HandlerFunc
		tags              []string
		next              string
		changed           bool
		err               string
	}{
		{"a registry that names the state of its list", "", tagsWith(`"a"`, "", "1.0.0"), []string{"1.0.0"}, `"a"`, true, ""},
		{"the same state is not sent", `"a"`, tagsWith(`"a"`, "", "1.0.0"), nil, `"a"`, false, ""},
		{"another state", `"b"`, tagsWith(`"a"`, "", "1.0.0"), []string{"1.0.0"}, `"a"`, true, ""},
		{"a registry that names no state", "", tagsWith("", "", "1.0.0"), []string{"1.0.0"}, "", true, ""},
		{"the state of the first page says nothing about the second", "", tagsWith(`"a"`, "2.0.0", "1.0.0"), []string{"1.0.0", "2.0.0"}, "", true, ""},
		{"a state without end is not sent back", "", tagsWith(`"`+strings.Repeat("a", maxValidator)+`"`, "", "1.0.0"), []string{"1.0.0"}, "", true, ""},
		{"more tags than the limit", "", tagsWith("", "", "1.0.0", "1.1.0", "1.2.0"), nil, "", false, "the number of tags"},
		{"an answer as if it had been asked for a state", "", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) }, nil, "", false, "304"},
		{"no such repository", "", http.NotFound, nil, "", false, "list the tags of repo in registry"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			h := serve(t, test.serve)
			list, changed, err := client(h, Options{}, DefaultTimeouts()).TagsSince(t.Context(), "repo", test.validator, 2)
			if !slices.Equal(list.Tags, test.tags) || list.Validator != test.next || changed != test.changed {
				t.Errorf("%+v, changed %t", list, changed)
			}
			if (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("%v", err)
			}
			if strings.HasPrefix(test.err, "list") && !errors.Is(err, oci.ErrNotFound) {
				t.Error("a repository that does not exist is not told from an outage")
			}
		})
	}
}

// tagsWith serves a list with a state, and a second page with one tag.
func tagsWith(state, second string, first ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if state != "" {
			w.Header().Set("ETag", state)
		}
		switch {
		case r.Header.Get("If-None-Match") == state && state != "":
			w.WriteHeader(http.StatusNotModified)
		case r.URL.Query().Get("last") != "":
			_, _ = fmt.Fprintf(w, `{"name":"repo","tags":[%q]}`, second)
		default:
			if second != "" {
				w.Header().Set("Link", `</v2/repo/tags/list?last=1.0.0>; rel="next"`)
			}
			_, _ = fmt.Fprintf(w, `{"name":"repo","tags":["%s"]}`, strings.Join(first, `","`))
		}
	}
}
