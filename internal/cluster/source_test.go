package cluster

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/cluster/answerlimit"
	"go.landscaper.dev/internal/cluster/clustererror"
)

// TestShootIsDeleted: the answer that a shoot is deleted must be about the shoot. Where shoots are not
// served, another server has answered, and nothing would be uninstalled from an existing cluster.
func TestShootIsDeleted(t *testing.T) {
	for _, test := range []struct {
		reason, body string
		gone         bool
	}{
		{"the garden says so", `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"shoots.core.gardener.cloud \"blue\" not found","reason":"NotFound","details":{"name":"blue","group":"core.gardener.cloud","kind":"shoots"},"code":404}`, true},
		{"an API server without shoots", "404 page not found\n", false},
		{"an API server without shoots, in the words of a status", `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"the server could not find the requested resource","reason":"NotFound","details":{},"code":404}`, false},
		{"a proxy in front of a garden that is down", "<html>default backend - 404</html>", false},
		{"an answer without text", "", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			connection, _ := connected(t, 0, func(out http.ResponseWriter, _ *http.Request) { write(out, http.StatusNotFound, test.body) })
			_, err := connection.Shoot(t.Context(), "garden-shop", "blue")
			if err == nil || apierrors.IsNotFound(err) != test.gone {
				t.Errorf("gone %t: %v", !test.gone, err)
			}
			if !test.gone && !strings.Contains(err.Error(), "does not know this kind") {
				t.Errorf("got %v", err)
			}
		})
	}
}

var shootKind = schema.GroupVersionKind{Group: "core.gardener.cloud", Version: "v1beta1", Kind: "Shoot"}

// pageOf writes a page of a list of shoots with these names.
func pageOf(next string, names ...string) string {
	var items []string
	for _, name := range names {
		items = append(items, fmt.Sprintf(`{"apiVersion":"core.gardener.cloud/v1beta1","kind":"Shoot","metadata":{"namespace":"garden-shop","name":%q,"uid":"u"}}`, name))
	}
	return fmt.Sprintf(`{"apiVersion":"core.gardener.cloud/v1beta1","kind":"ShootList","metadata":{"resourceVersion":"1","continue":%q},"items":[%s]}`, next, strings.Join(items, ","))
}

// TestListOfASource: a list with what no API server sends is not believed at all.
func TestListOfASource(t *testing.T) {
	for _, test := range []struct {
		reason, first, second string
		want                  string
	}{
		{"two pages", pageOf("next", "a"), pageOf("", "b.c"), ""},
		{"a name twice on a page", pageOf("", "a", "a"), "", clustererror.ErrIncomplete.Error()},
		{"a name on two pages", pageOf("next", "a"), pageOf("", "b", "a"), clustererror.ErrIncomplete.Error()},
		{"a name that leads elsewhere", pageOf("", "../a"), "", clustererror.ErrIncomplete.Error()},
		{"a name that is as long as a book", pageOf("", strings.Repeat("a", 1<<20)), "", clustererror.ErrIncomplete.Error()},
		{"an identity that is as long as a book", strings.Replace(pageOf("", "a"), `"uid":"u"`, `"uid":"`+strings.Repeat("u", 1000)+`"`, 1), "", clustererror.ErrIncomplete.Error()},
		{"a version that is as long as a book", strings.Replace(pageOf("", "a"), `"uid":"u"`, `"uid":"u","resourceVersion":"`+strings.Repeat("1", 1000)+`"`, 1), "", clustererror.ErrIncomplete.Error()},
		{"a name in upper case", pageOf("", "A"), "", clustererror.ErrIncomplete.Error()},
	} {
		t.Run(test.reason, func(t *testing.T) {
			connection, _ := connected(t, 0, func(out http.ResponseWriter, request *http.Request) {
				if request.URL.Query().Get("continue") != "" {
					write(out, http.StatusOK, test.second)
					return
				}
				write(out, http.StatusOK, test.first)
			})
			listing, err := ListReduced(t.Context(), connection, shootKind, shoots, "garden-shop", func(object *unstructured.Unstructured) (string, error) { return object.GetName(), nil })
			switch {
			case test.want == "":
				if err != nil || len(listing.Objects) != 2 {
					t.Errorf("got %v, %v", listing, err)
				}
			case err == nil || !strings.Contains(err.Error(), test.want) || len(err.Error()) > 1000:
				t.Errorf("got %.300v", err)
			}
		})
	}
}

// TestListOfLargeObjects: objects of which a page is larger than what is read are read in smaller
// pages, including those that were not asked for. Lists without elements are large in memory and
// short to send, which is quick also with the race detector.
func TestListOfLargeObjects(t *testing.T) {
	const count, listCost = 20, 128
	large := "[" + strings.Repeat("[],", 5*answerlimit.MaxAnswerCost/listCost/count/4) + "0]"
	var asked atomic.Int64
	serve := func(out http.ResponseWriter, request *http.Request) {
		asked.Add(1)
		query := request.URL.Query()
		from, _ := strconv.Atoi(query.Get("continue"))
		limit, _ := strconv.Atoi(query.Get("limit"))
		var names []string
		for i := from; i < min(from+limit, count); i++ {
			names = append(names, fmt.Sprintf("s%02d", i))
		}
		next := ""
		if from+limit < count {
			next = strconv.Itoa(from + limit)
		}
		write(out, http.StatusOK, strings.ReplaceAll(pageOf(next, names...), `"uid":"u"`, `"uid":"u","large":`+large))
	}
	connection, _ := connected(t, 0, serve)
	listing, err := ListReduced(t.Context(), connection, shootKind, shoots, "garden-shop", func(object *unstructured.Unstructured) (string, error) { return object.GetName(), nil })
	if err != nil || len(listing.Objects) != count || listing.Objects[0] != "s00" || listing.Objects[count-1] != "s19" {
		t.Errorf("%v, %v", listing, err)
	}
	if asked.Load() != 2+count/5 {
		t.Errorf("pages of 500 and 50 are too large, those of 5 are not: %d requests", asked.Load())
	}
}
