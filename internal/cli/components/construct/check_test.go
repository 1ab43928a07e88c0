package construct

import (
	"testing"

	"go.landscaper.dev/internal/content/component/publish"
)

func TestTwice(t *testing.T) {
	parsed, err := publish.Parse([]byte(`{name: example.org/a, version: 1.0.0, provider: p, resources: [
{name: rr, type: t, input: {type: utf8}}, {name: rr, version: "2", type: t, input: {type: utf8}}, {name: rr, extraIdentity: {os: x}, type: t, input: {type: utf8}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(parsed); err != nil {
		t.Errorf("a version or more identity tells elements apart: %v", err)
	}
}
