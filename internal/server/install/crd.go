package install

import (
	"context"
	"fmt"
	"maps"
	"strconv"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// result is what happened to an object.
type result string

const (
	created   result = "created"
	updated   result = "updated"
	unchanged result = "unchanged"
)

// applyCRD creates a CRD or replaces the parts of it that are ours. It does not use server-side
// apply: that would keep fields of an older schema that another program wrote.
func applyCRD(ctx context.Context, cluster client.Client, crd *apiextensionsv1.CustomResourceDefinition, allowDowngrade bool) (result, error) {
	var done result
	err := retry.OnError(retry.DefaultBackoff, concurrentChange, func() error {
		var err error
		done, err = applyCRDOnce(ctx, cluster, crd, allowDowngrade)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("install CustomResourceDefinition %s: %w", crd.Name, err)
	}
	return done, nil
}

func concurrentChange(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err)
}

func applyCRDOnce(ctx context.Context, cluster client.Client, crd *apiextensionsv1.CustomResourceDefinition, allowDowngrade bool) (result, error) {
	live := &apiextensionsv1.CustomResourceDefinition{}
	err := cluster.Get(ctx, client.ObjectKeyFromObject(crd), live)
	if apierrors.IsNotFound(err) {
		return created, cluster.Create(ctx, crd.DeepCopy(), client.FieldOwner(fieldOwner))
	}
	if err != nil {
		return "", fmt.Errorf("read the installed definition: %w", err)
	}
	if err := refuseDowngrade(live, crd); err != nil && !allowDowngrade {
		return "", err
	}
	desired := upgraded(live, crd)
	if equality.Semantic.DeepEqual(live, desired) {
		return unchanged, nil
	}
	return updated, cluster.Update(ctx, desired, client.FieldOwner(fieldOwner))
}

// refuseDowngrade returns an error if a newer release wrote the installed
// definition: an older schema would cut fields off the stored objects.
func refuseDowngrade(live, crd *apiextensionsv1.CustomResourceDefinition) error {
	// A definition without a revision is from upstream, or from a user.
	installed, installedErr := strconv.Atoi(live.Annotations[revisionAnnotation])
	ours, err := strconv.Atoi(crd.Annotations[revisionAnnotation])
	if installedErr != nil || err != nil || installed <= ours {
		return err
	}
	return fmt.Errorf("a newer release of Landscaper installed it (API revision %d, this release has %d): use the newer release, or pass --allow-downgrade and lose the fields that only the newer one knows", installed, ours)
}

// upgraded returns the installed definition with our parts replaced. Additions of other clients
// stay: annotations, a conversion, further versions.
func upgraded(live, crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	desired := live.DeepCopy()
	if desired.Annotations == nil {
		desired.Annotations = map[string]string{}
	}
	maps.Copy(desired.Annotations, crd.Annotations)
	categories := desired.Spec.Names.Categories
	desired.Spec.Names = *crd.Spec.Names.DeepCopy()
	desired.Spec.Names.Categories = categories
	desired.Spec.PreserveUnknownFields = false
	for i := range crd.Spec.Versions {
		replaceVersion(&desired.Spec, crd.Spec.Versions[i].DeepCopy())
	}
	return desired
}

// replaceVersion puts a version into a definition. The storage version stays.
func replaceVersion(spec *apiextensionsv1.CustomResourceDefinitionSpec, version *apiextensionsv1.CustomResourceDefinitionVersion) {
	for i := range spec.Versions {
		if spec.Versions[i].Name == version.Name {
			version.Storage = spec.Versions[i].Storage
			spec.Versions[i] = *version
			return
		}
	}
	version.Storage = false
	spec.Versions = append(spec.Versions, *version)
}

// waitUntilServed returns when the API server has established all definitions.
func waitUntilServed(ctx context.Context, cluster client.WithWatch, crds []*apiextensionsv1.CustomResourceDefinition) error {
	waiting := make(map[string]string, len(crds))
	for _, crd := range crds {
		waiting[crd.Name] = "the API server has not looked at it yet"
	}
	list := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := cluster.List(ctx, list); err != nil {
		return fmt.Errorf("list CustomResourceDefinitions: %w", err)
	}
	for i := range list.Items {
		note(waiting, &list.Items[i])
	}
	if len(waiting) == 0 {
		return nil
	}
	events, err := cluster.Watch(ctx, &apiextensionsv1.CustomResourceDefinitionList{}, &client.ListOptions{
		Raw: listFrom(list.ResourceVersion),
	})
	if err != nil {
		return fmt.Errorf("watch CustomResourceDefinitions: %w", err)
	}
	defer events.Stop()
	for len(waiting) > 0 {
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait until the API server serves our kinds: %w; still missing: %v", ctx.Err(), waiting)
		case event, open := <-events.ResultChan():
			if !open {
				return fmt.Errorf("the watch for CustomResourceDefinitions ended; still missing: %v", waiting)
			}
			if crd, ok := event.Object.(*apiextensionsv1.CustomResourceDefinition); ok {
				note(waiting, crd)
			}
		}
	}
	return nil
}

// note removes a definition from the waiting ones if it is established, or records why it is not.
func note(waiting map[string]string, crd *apiextensionsv1.CustomResourceDefinition) {
	if _, ok := waiting[crd.Name]; !ok {
		return
	}
	established := false
	for _, condition := range crd.Status.Conditions {
		isTrue := condition.Status == apiextensionsv1.ConditionTrue
		switch {
		case condition.Type == apiextensionsv1.Established && isTrue:
			established = true
		case condition.Type == apiextensionsv1.NamesAccepted && !isTrue:
			waiting[crd.Name] = condition.Message
			return
		}
	}
	if established {
		delete(waiting, crd.Name)
	}
}
