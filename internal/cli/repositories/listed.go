package repositories

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/repository"
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
func (a *Access) Missing(ctx context.Context, at Location, name string, err error) error {
	if !errors.Is(err, oci.ErrNotFound) {
		return err
	}
	if at.Spec.Kind != repository.KindOCI {
		name = ""
	}
	existing, listErr := a.Versions(ctx, at, name)
	switch {
	case at.Spec.Kind == repository.KindOCI && len(existing) == 0:
		return fmt.Errorf("%w: check the name, the version and the path of the repository", err)
	case listErr != nil:
		return err
	case at.Spec.Kind == repository.KindOCI:
		// There may be many; the newest ones are more likely to be meant.
		slices.Reverse(existing)
	}
	return fmt.Errorf("%w%s", err, Listed(existing))
}

// Versions lists the versions of a component, the newest last; in an archive or a
// directory those of all components if the name is empty.
func (a *Access) Versions(ctx context.Context, at Location, name string) ([]ComponentVersion, error) {
	all, err := at.Versions()
	if at.Spec.Kind == repository.KindOCI {
		all, err = a.versionsInRegistry(ctx, at, name)
	}
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(v ComponentVersion) bool { return name != "" && v.Name != name })
	slices.SortStableFunc(all, byVersion)
	return all, nil
}

func (a *Access) versionsInRegistry(ctx context.Context, at Location, name string) ([]ComponentVersion, error) {
	tags, err := a.registry(at.Spec).Tags(ctx, at.Spec.Repository(name))
	var found []ComponentVersion
	for _, tag := range tags {
		// Other tags are not those of component versions.
		if version := repository.VersionOf(tag); descriptor.CheckVersion(version) == nil {
			found = append(found, ComponentVersion{name, version})
		}
	}
	return found, err
}

// byVersion sorts by name, and then by version, the newest last.
func byVersion(a, b ComponentVersion) int {
	if order := strings.Compare(a.Name, b.Name); order != 0 {
		return order
	}
	left, errA := semver.NewVersion(a.Version)
	right, errB := semver.NewVersion(b.Version)
	if errA != nil || errB != nil || left.Equal(right) {
		return strings.Compare(a.Version, b.Version)
	}
	return left.Compare(right)
}
