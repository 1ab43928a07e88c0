package publish

import (
	"testing"

	"go.landscaper.dev/internal/content/component/descriptor"
)

// FuzzParse reads constructor files. What was read becomes a descriptor or an error.
func FuzzParse(f *testing.F) {
	f.Add([]byte(oneText))
	f.Add([]byte("components: [{name: example.org/a, version: 1.0.0, provider: {name: p}, references: [{name: bb, componentName: example.org/b, version: 1.0.0}]}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		constructor, err := Parse(data)
		if err != nil {
			return
		}
		for i := range constructor.Components {
			if _, err := constructor.Components[i].descriptor(descriptor.SchemaV2).Encode(); err != nil {
				t.Errorf("what was read cannot be written: %v", err)
			}
		}
	})
}
