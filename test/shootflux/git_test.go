package shootflux

import (
	"testing"

	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/showcase"
)

// path is where the applications of a repository are.
const path = "examples/kustomize/shoot"

// repository makes a repository on the Git server whose path has a ConfigMap.
func repository(t *testing.T, name, application string) string {
	t.Helper()
	made, err := world.Lab.CreateRepository(limited(t), unique(name))
	must(t, err)
	fill(t, made, application)
	return made.HTTP
}

// fill puts a ConfigMap, which stands for any workload, into a repository.
func fill(t *testing.T, made lab.Repository, application string) {
	t.Helper()
	files, err := showcase.NewRepository(limited(t), made.HTTP, t.TempDir())
	must(t, err)
	must(t, files.Write(limited(t), "shoot/app.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+application+"}\ndata: {text: hello}\n"))
}
