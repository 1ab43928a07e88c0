package build

import (
	"fmt"

	"sigs.k8s.io/kustomize/api/types"

	"go.landscaper.dev/internal/base/pattern"
)

// imageEnd is what the library has behind the name of an image.
const imageEnd = "(:[a-zA-Z0-9_.{}-]*)?(@sha256:[a-zA-Z0-9_.{}-]*)?$"

// patterns refuses regular expressions that are not valid: the library would quote them. A selector
// is one, and so is the name of an image.
func patterns(_, _ string, content *types.Kustomization) error {
	for i, patch := range content.Patches {
		if patch.Target == nil {
			continue
		}
		for _, by := range []struct{ field, text string }{
			{"group", patch.Target.Group}, {"version", patch.Target.Version}, {"kind", patch.Target.Kind}, {"name", patch.Target.Name}, {"namespace", patch.Target.Namespace},
		} {
			if by.text == "" {
				continue
			}
			if _, err := pattern.Compile("^(?:" + by.text + ")$"); err != nil {
				return fmt.Errorf("patches[%d].target.%s: %w", i, by.field, err)
			}
		}
	}
	for i, image := range content.Images {
		if _, err := pattern.Compile("^" + image.Name + imageEnd); err != nil {
			return fmt.Errorf("images[%d].name: %w", i, err)
		}
	}
	return nil
}
