package connection

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/landscape/inspect"
)

func TestExplainMissingDefinition(t *testing.T) {
	c := &Connection{Where: "the cluster c"}
	missing := apierrors.NewGenericServerResponse(404, "list", schema.GroupResource{}, "", "404 page not found", 0, true)
	err := c.Explain(&inspect.ReadError{Resource: v1alpha1.Resource("deployitems"), Err: missing})
	if !strings.Contains(err.Error(), "deployitems.landscaper.gardener.cloud is not installed in the cluster c") || terminal.ExitCode(err, true) != terminal.ExitNotFound {
		t.Error(err)
	}
	object := apierrors.NewNotFound(v1alpha1.Resource("installations"), "a")
	if got := c.Explain(object); !errors.Is(got, object) {
		t.Errorf("a missing object is no missing definition: %v", got)
	}
}
