package shootflux

import (
	"testing"

	"go.landscaper.dev/test/showcase"
)

// path is where the applications of a repository are.
const path = "examples/kustomize/shoot"

// repository makes a repository on the Git server whose path has a ConfigMap, which stands
// for any workload.
func repository(t *testing.T, name, application string) (address string, files *showcase.Repository) {
	t.Helper()
	made, err := world.Lab.CreateRepository(limited(t), name)
	must(t, err)
	files, err = showcase.NewRepository(limited(t), made.HTTP, t.TempDir())
	must(t, err)
	must(t, files.Write(limited(t), "shoot/app.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+application+"}\ndata: {text: hello}\n"))
	return made.HTTP, files
}
