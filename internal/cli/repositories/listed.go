package repositories

import (
	"errors"
	"fmt"
	"strings"

	"go.landscaper.dev/internal/component/oci"
	"go.landscaper.dev/internal/component/repository"
)

// maxListed is the number of things in a message.
const maxListed = 10

// Listed tells what there is, at the end of a message about what is not.
func Listed[T fmt.Stringer](found []T) string {
	if len(found) == 0 {
		return ": it is empty"
	}
	var names []string
	for i, one := range found {
		if i == maxListed {
			names = append(names, fmt.Sprintf("and %d more", len(found)-i))
			break
		}
		names = append(names, one.String())
	}
	return ": there are " + strings.Join(names, ", ")
}

// Missing adds to an error about a component version that is not there which ones
// are, where that can be known.
func (l Location) Missing(err error) error {
	if !errors.Is(err, oci.ErrNotFound) {
		return err
	}
	if l.Spec.Kind == repository.KindOCI {
		return fmt.Errorf("%w: check the name, the version and the path of the repository", err)
	}
	if existing, listErr := l.Versions(); listErr == nil {
		return fmt.Errorf("%w%s", err, Listed(existing))
	}
	return err
}
