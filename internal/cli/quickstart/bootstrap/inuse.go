package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// Use is what still uses a Landscaper: the numbers of root Installations by their
// namespaces.
type Use map[string]int

// InUse looks for Installations in all namespaces.
func InUse(ctx context.Context, reader client.Reader) (Use, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("InstallationList"))
	err := reader.List(ctx, list, &client.ListOptions{Raw: &metav1.ListOptions{LabelSelector: "!" + v1alpha1.EncompassedByLabel}})
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return nil, nil // nothing is installed
	}
	if err != nil {
		return nil, fmt.Errorf("look for Installations: %w", err)
	}
	use := Use{}
	for _, item := range list.Items {
		use[item.Namespace]++
	}
	return use, nil
}

// String tells how many Installations there are, and where.
func (u Use) String() string {
	total := 0
	var places []string
	for _, namespace := range slices.Sorted(maps.Keys(u)) {
		total += u[namespace]
		places = append(places, fmt.Sprintf("%s (%d)", namespace, u[namespace]))
	}
	const shown = 5
	if len(places) > shown {
		places = append(places[:shown], fmt.Sprintf("%d more", len(places)-shown))
	}
	return fmt.Sprintf("root Installations: %d, in the namespaces %s", total, strings.Join(places, ", "))
}

// Consequence describes what a removal means for the existing Installations; "" without any.
// The error refuses the removal.
func (r Removal) Consequence(use Use) (string, error) {
	switch {
	case len(use) == 0:
		return "", nil
	case r.Definitions:
		return use.String() + ". They are deleted with the CRDs; what they have deployed stays on its clusters, and is not managed any more", nil
	case r.DeleteNamespace && use[r.Namespace] > 0:
		return "", errors.New("the namespace " + r.Namespace + " has Installations, which no controller would be left to delete, so that the namespace would stay for ever: delete them before with landscaper-cli installations delete, or give up what they have deployed with --delete-crd")
	}
	return use.String() + ". They stay, and so does what they have deployed; nothing happens to them until a Landscaper is installed again", nil
}
