package install

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/admission"
	"go.landscaper.dev/internal/model/validation"
)

const (
	// revisionAnnotation is the revision of the manifests that a CRD comes from.
	revisionAnnotation = v1alpha1.GroupName + "/api-revision"
	// componentLabel marks the policies, so that those of older releases can be
	// found and removed.
	componentLabel = v1alpha1.GroupName + "/component"
	// componentAdmission is the value of componentLabel on policies.
	componentAdmission = "admission"
)

// CRDs returns the CustomResourceDefinitions that every server needs.
func CRDs() ([]*apiextensionsv1.CustomResourceDefinition, error) { return crdsOf(api.CRDs) }

// DeliveryCRDs returns the CustomResourceDefinitions of the feature DeliveryPolicies.
func DeliveryCRDs() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	return crdsOf(api.DeliveryCRDs)
}

// FleetCRDs returns the CustomResourceDefinitions of the feature Fleets.
func FleetCRDs() ([]*apiextensionsv1.CustomResourceDefinition, error) { return crdsOf(api.FleetCRDs) }

func crdsOf(files fs.FS) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var crds []*apiextensionsv1.CustomResourceDefinition
	err := eachFile(files, func(name string, content []byte) error {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(content, crd); err != nil {
			return fmt.Errorf("decode %s: %w", name, err)
		}
		crd.Annotations[revisionAnnotation] = strconv.Itoa(api.Revision())
		crds = append(crds, crd)
		return nil
	})
	return crds, err
}

// Policies returns the admission policies and their bindings with the
// administrator's permissions filled in.
func Policies(sources validation.SourceNamespaces) ([]*unstructured.Unstructured, error) {
	return policiesOf(api.Policies, sources)
}

// DeliveryPolicies returns the admission policies of the feature DeliveryPolicies, and their bindings.
func DeliveryPolicies() ([]*unstructured.Unstructured, error) {
	return policiesOf(api.DeliveryPolicies, nil)
}

func policiesOf(files fs.FS, sources validation.SourceNamespaces) ([]*unstructured.Unstructured, error) {
	var policies []*unstructured.Unstructured
	err := eachFile(files, func(name string, content []byte) error {
		documents := utilyaml.NewYAMLReader(newReader(content))
		for {
			document, err := documents.Read()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("read %s: %w", name, err)
			}
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal(document, &object.Object); err != nil {
				return fmt.Errorf("decode %s: %w", name, err)
			}
			if len(object.Object) == 0 {
				continue
			}
			object.SetLabels(map[string]string{componentLabel: componentAdmission})
			if err := permit(object, sources); err != nil {
				return fmt.Errorf("policy %s: %w", object.GetName(), err)
			}
			policies = append(policies, object)
		}
	})
	return policies, err
}

// permit fills the variable of a policy that holds the permissions.
func permit(policy *unstructured.Unstructured, sources validation.SourceNamespaces) error {
	variables, found, err := unstructured.NestedSlice(policy.Object, "spec", "variables")
	if err != nil || !found {
		return err
	}
	for _, variable := range variables {
		if fields, ok := variable.(map[string]any); ok && fields["name"] == admission.AllowedSourceNamespaces {
			fields["expression"] = celMap(sources)
		}
	}
	return unstructured.SetNestedSlice(policy.Object, variables, "spec", "variables")
}

func celMap(sources validation.SourceNamespaces) string {
	var entries []string
	for source, namespaces := range sources {
		quoted := make([]string, 0, len(namespaces))
		for _, namespace := range namespaces {
			quoted = append(quoted, strconv.Quote(namespace))
		}
		entries = append(entries, strconv.Quote(source)+": ["+strings.Join(quoted, ", ")+"]")
	}
	slices.Sort(entries)
	return "{" + strings.Join(entries, ", ") + "}"
}

func eachFile(files fs.FS, visit func(name string, content []byte) error) error {
	return fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return fmt.Errorf("read embedded manifest %s: %w", name, err)
		}
		return visit(name, content)
	})
}

// AllCRDs returns the CustomResourceDefinitions that this release may have installed, whatever features
// are on.
func AllCRDs() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	crds, _, err := Options{Delivery: true, Fleets: true}.manifests()
	return crds, err
}

// AllPolicies returns the admission policies that this release may have installed, whatever features are
// on.
func AllPolicies() ([]*unstructured.Unstructured, error) {
	_, policies, err := Options{Delivery: true}.manifests()
	return policies, err
}

// Revisions returns the revisions of the manifests of this release, by the names of the CRDs.
func Revisions() (map[string]string, error) {
	crds, err := CRDs()
	if err != nil {
		return nil, err
	}
	revisions := make(map[string]string, len(crds))
	for _, crd := range crds {
		revisions[crd.Name] = Revision(crd)
	}
	return revisions, nil
}

// Revision returns the revision of the manifests that an installed CRD comes from; "" if another
// distribution installed it.
func Revision(crd metav1.Object) string { return crd.GetAnnotations()[revisionAnnotation] }
