package cluster

import (
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// TestShootIsGone: that a shoot is gone must be told of the shoot. Where nothing is
// served, something else has answered, and who believes that uninstalls nothing from a
// cluster that lives.
func TestShootIsGone(t *testing.T) {
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
