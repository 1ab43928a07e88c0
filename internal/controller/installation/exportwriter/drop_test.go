package exportwriter

import (
	"context"
	"errors"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
)

// TestDropFailsInOrder: of several objects that cannot be deleted all are named, in the same
// order each time, whatever order a cache has.
func TestDropFailsInOrder(t *testing.T) {
	inst := testbuilders.InstallationOf(t, "{}")
	own := testbuilders.Owner("Installation", "shop", "2")
	api, ok := fakeapi.New(t, testbuilders.CopyOf("b", "job-1", own), testbuilders.CopyOf("c", "job-1", own), testbuilders.CopyOf("a", "job-1", own)).(client.WithWatch)
	if !ok {
		t.Fatal("the client cannot be wrapped")
	}
	refusing := interceptor.NewClient(api, interceptor.Funcs{
		Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error {
			return errors.New("busy")
		},
	})
	err := Writer{Client: refusing, Reader: refusing}.DeleteStaleCopies(t.Context(), inst)
	if err == nil {
		t.Fatal("nothing has failed")
	}
	var names []string
	for _, line := range strings.Split(err.Error(), "\n") {
		_, rest, _ := strings.Cut(line, "delete Target ")
		name, _, _ := strings.Cut(rest, ",")
		names = append(names, name)
	}
	if got := strings.Join(names, " "); got != "a b c" {
		t.Errorf("they are named as %s:\n%v", got, err)
	}
}
