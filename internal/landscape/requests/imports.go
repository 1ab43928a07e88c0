package requests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/yamltext"
)

// ImportValue is a fixed value for an import.
type ImportValue struct {
	// Name is that of the import.
	Name  string
	Value v1alpha1.AnyJSON
}

// ReadImportValue reads what a user has written for an import: anything in YAML or JSON, or else a
// number or a text.
func ReadImportValue(name, text string, anything bool) (ImportValue, error) {
	value, err := valueOf(text, anything)
	if err != nil {
		return ImportValue{}, fmt.Errorf("import %s: %w", name, err)
	}
	return ImportValue{name, value}, nil
}

func valueOf(text string, anything bool) (v1alpha1.AnyJSON, error) {
	if anything {
		document, err := OnlyDocument([]byte(text))
		if document == nil {
			return v1alpha1.NewAnyJSON([]byte("null")), err
		}
		raw, err := document.JSON()
		return v1alpha1.NewAnyJSON(raw), err
	}
	if isNumber(text) {
		return v1alpha1.NewAnyJSON([]byte(text)), nil
	}
	raw, err := json.Marshal(text)
	return v1alpha1.NewAnyJSON(raw), err
}

// OnlyDocument returns the document of a text, or nil if it has none. A second one would be lost
// without a word.
func OnlyDocument(text []byte) (*yamltext.Document, error) {
	documents, err := yamltext.Documents(text, yamltext.Lenient())
	switch {
	case err != nil:
		return nil, err
	case len(documents) > 1:
		return nil, fmt.Errorf("line %d: a second document begins here: leave one", documents[1].Line())
	case len(documents) == 0:
		return nil, nil
	}
	return documents[0], nil
}

// isNumber tells that a text is a number, as JSON writes it, and none that is too large for anybody.
func isNumber(text string) bool {
	var number any
	if json.Unmarshal([]byte(text), &number) != nil {
		return false
	}
	_, is := number.(float64)
	return is && strings.TrimSpace(text) == text
}

// SetImports gives imports of an Installation fixed values, and returns it as it is then. No job is
// started.
func SetImports(ctx context.Context, c client.Client, name client.ObjectKey, values []ImportValue) (*v1alpha1.Installation, error) {
	installation := &v1alpha1.Installation{}
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		*installation = v1alpha1.Installation{}
		if err := c.Get(ctx, name, installation); err != nil {
			return fmt.Errorf("read the Installation: %w", err)
		}
		before := installation.DeepCopy()
		if err := ReplaceImports(installation, values); err != nil {
			return err
		}
		return c.Patch(ctx, installation, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	})
	return installation, err
}

// ReplaceImports replaces imports by values. It also replaces values that were set before.
func ReplaceImports(installation *v1alpha1.Installation, values []ImportValue) error {
	spec := &installation.Spec
	var unknown []error
	for _, value := range values {
		at := slices.IndexFunc(spec.Imports.Data, func(item v1alpha1.DataImport) bool { return item.Name == value.Name })
		_, mapped := spec.ImportDataMappings[value.Name]
		if at < 0 && !mapped {
			unknown = append(unknown, fmt.Errorf("import parameter '%s' not found in the installation: if its blueprint has it, list it in spec.importDataMappings first", value.Name))
			continue
		}
		if at >= 0 {
			spec.Imports.Data = slices.Delete(spec.Imports.Data, at, at+1)
		}
		if spec.ImportDataMappings == nil {
			spec.ImportDataMappings = map[string]v1alpha1.AnyJSON{}
		}
		spec.ImportDataMappings[value.Name] = value.Value
	}
	return errors.Join(unknown...)
}
