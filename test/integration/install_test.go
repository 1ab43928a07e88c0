package integration

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"go.landscaper.dev/internal/server/install"
)

const revisionAnnotation = "landscaper.gardener.cloud/api-revision"

// TestInstallAgainChangesNothing shows that a second run writes nothing.
func TestInstallAgainChangesNothing(t *testing.T) {
	out := runInstall(t, cluster, install.Options{SourceNamespaces: sources})
	for line := range strings.Lines(out) {
		if !strings.HasSuffix(strings.TrimSpace(line), ": unchanged") {
			t.Errorf("a second run says %q", line)
		}
	}
	if count := strings.Count(out, "CustomResourceDefinition "); count != 11 {
		t.Errorf("%d kinds are installed, want 11", count)
	}
}

// TestInstallAtTheSameTime shows that several replicas may install at once.
func TestInstallAtTheSameTime(t *testing.T) {
	errs := make(chan error, 4)
	var group sync.WaitGroup
	for range cap(errs) {
		group.Go(func() {
			errs <- install.Run(t.Context(), cluster, install.Options{SourceNamespaces: sources}, &bytes.Buffer{})
		})
	}
	group.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
}

// TestUpgradeFromUpstream installs the CRDs of upstream, stores objects, upgrades in runs that are cut
// after each write, and shows that the objects keep working.
func TestUpgradeFromUpstream(t *testing.T) {
	_, public, err := connect(clusters["public"])
	if err != nil {
		t.Fatal(err)
	}
	installPublicShape(t, public)
	before := []*unstructured.Unstructured{
		mustParse(t, `{kind: Installation, metadata: {name: stored}, spec: {blueprint: {ref: {resourceName: shop}}, imports: {data: [{name: a, dataRef: b}, {name: a, dataRef: c}]}}}`),
		mustParse(t, `{kind: Execution, metadata: {name: stored}, spec: {context: default, deployItemsCompressed: W10=}}`),
		mustParse(t, `{kind: DeployItem, metadata: {name: stored}, spec: {type: t, timeout: soon, config: {apiVersion: v1, kind: Any, free: {form: [1]}}}}`),
		mustParse(t, `{kind: DataObject, metadata: {name: stored}, data: {a: {b: [1, two]}}}`),
		mustParse(t, `{kind: Target, metadata: {name: stored}, spec: {type: landscaper.gardener.cloud/kubernetes-cluster, config: {kubeconfig: {secretRef: {name: s}}}}}`),
		mustParse(t, `{kind: Context, metadata: {name: stored}, repositoryContext: {type: ociRegistry, baseUrl: x}, configurations: {any: {thing: 1}}}`),
	}
	for _, object := range before {
		if err := public.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	note := &apiextensionsv1.CustomResourceDefinition{}
	key := client.ObjectKey{Name: "installations.landscaper.gardener.cloud"}
	if err := public.Get(t.Context(), key, note); err != nil {
		t.Fatal(err)
	}
	// Controllers of the API server may still be writing its status.
	owned := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"acme.example/owner":"platform"}}}`))
	if err := public.Patch(t.Context(), note.DeepCopy(), owned); err != nil {
		t.Fatal(err)
	}

	out := installInSteps(t, public, before[0])
	if !strings.Contains(out, "installations.landscaper.gardener.cloud: updated") {
		t.Errorf("the kinds were not upgraded:\n%s", out)
	}

	for _, object := range before {
		after := object.DeepCopy()
		if err := public.Get(t.Context(), client.ObjectKeyFromObject(object), after); err != nil {
			t.Fatal(err)
		}
		for _, field := range []string{"spec", "data", "repositoryContext", "configurations"} {
			if lost := missing(object.Object[field], after.Object[field]); lost != "" {
				t.Errorf("%s lost %s%s", object.GetKind(), field, lost)
			}
		}
		// Controllers must be able to work with an object that breaks a rule.
		after.SetFinalizers([]string{"finalizer.landscaper.gardener.cloud"})
		if err := public.Update(t.Context(), after); err != nil {
			t.Errorf("%s cannot get a finalizer: %v", object.GetKind(), err)
		}
		after.SetFinalizers(nil)
		if err := public.Update(t.Context(), after); err != nil {
			t.Errorf("%s cannot lose its finalizer: %v", object.GetKind(), err)
		}
	}
	if err := public.Get(t.Context(), key, note); err != nil {
		t.Fatal(err)
	}
	if note.Annotations["acme.example/owner"] != "platform" {
		t.Error("the foreign annotation was removed")
	}
	if description := note.Spec.Versions[0].Schema.OpenAPIV3Schema.Description; description == "" {
		t.Error("the schema is still the public one")
	}
}

// errCut is what the installer sees when it is cut.
var errCut = errors.New("the connection is cut")

// installInSteps installs in as many runs as there is something to write: each is cut before its
// second write, and the next one goes on. After each, a stored object can be read and written.
func installInSteps(t *testing.T, cluster client.WithWatch, object *unstructured.Unstructured) string {
	t.Helper()
	var out bytes.Buffer
	for cuts := 0; ; cuts++ {
		err := install.Run(t.Context(), cutAfterOne(cluster), install.Options{SourceNamespaces: sources}, &out)
		if err == nil {
			// There are 11 definitions, and policies with their bindings.
			if cuts < 15 {
				t.Errorf("only %d runs were cut", cuts)
			}
			return out.String()
		}
		if !errors.Is(err, errCut) {
			t.Fatalf("after %d runs that were cut: %v\n%s", cuts, err, out.String())
		}
		now := object.DeepCopy()
		if err := cluster.Get(t.Context(), client.ObjectKeyFromObject(object), now); err != nil {
			t.Fatal(err)
		}
		now.SetAnnotations(map[string]string{"acme.example/cuts": strconv.Itoa(cuts)})
		if err := cluster.Update(t.Context(), now); err != nil {
			t.Errorf("after %d runs that were cut: %v", cuts, err)
		}
	}
}

// cutAfterOne lets one write through.
func cutAfterOne(cluster client.WithWatch) client.WithWatch {
	writes := 0
	cut := func() error {
		if writes++; writes > 1 {
			return errCut
		}
		return nil
	}
	return interceptor.NewClient(cluster, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if err := cut(); err != nil {
				return err
			}
			return c.Create(ctx, object, options...)
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			if err := cut(); err != nil {
				return err
			}
			return c.Update(ctx, object, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if err := cut(); err != nil {
				return err
			}
			return c.Patch(ctx, object, patch, options...)
		},
		Apply: func(ctx context.Context, c client.WithWatch, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			if err := cut(); err != nil {
				return err
			}
			return c.Apply(ctx, object, options...)
		},
	})
}

// installPublicShape writes our CRDs reduced to the fields of upstream: no defaults, no
// descriptions, none of our own fields.
func installPublicShape(t *testing.T, public client.WithWatch) {
	t.Helper()
	crds, err := install.CRDs()
	if err != nil {
		t.Fatal(err)
	}
	for _, crd := range crds {
		crd.Annotations = nil
		version := &crd.Spec.Versions[0]
		reduce(version.Schema.OpenAPIV3Schema)
		root := version.Schema.OpenAPIV3Schema
		if crd.Spec.Names.Kind == "Installation" {
			delete(root.Properties["spec"].Properties, "registryPullSecrets")
			for _, field := range []string{"imports", "installationRefs", "configGeneration"} {
				delete(root.Properties["status"].Properties, field)
			}
		}
		if err := public.Create(t.Context(), crd); err != nil {
			t.Fatal(err)
		}
	}
	waitEstablished(t, public, len(crds))
}

// reduce removes from a schema what upstream does not have.
func reduce(schema *apiextensionsv1.JSONSchemaProps) {
	schema.Default, schema.Description = nil, ""
	for name, property := range schema.Properties {
		reduce(&property)
		schema.Properties[name] = property
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		reduce(schema.Items.Schema)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		reduce(schema.AdditionalProperties.Schema)
	}
}

func waitEstablished(t *testing.T, public client.WithWatch, count int) {
	t.Helper()
	list := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := public.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	established := map[string]bool{}
	look := func(crd *apiextensionsv1.CustomResourceDefinition) {
		for _, condition := range crd.Status.Conditions {
			if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
				established[crd.Name] = true
			}
		}
	}
	for i := range list.Items {
		look(&list.Items[i])
	}
	events, err := public.Watch(t.Context(), list, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	for len(established) < count {
		event, open := <-events.ResultChan()
		if !open {
			t.Fatal("the watch ended")
		}
		if crd, ok := event.Object.(*apiextensionsv1.CustomResourceDefinition); ok {
			look(crd)
		}
	}
}

// missing returns the path of something that was in a value and no longer is, or
// has changed.
func missing(before, after any) string {
	switch before := before.(type) {
	case map[string]any:
		object, ok := after.(map[string]any)
		if !ok {
			return " (no longer an object)"
		}
		for key, value := range before {
			if lost := missing(value, object[key]); lost != "" {
				return "." + key + lost
			}
		}
	case []any:
		list, ok := after.([]any)
		if !ok || len(list) != len(before) {
			return " (elements of a list)"
		}
		for i, value := range before {
			if lost := missing(value, list[i]); lost != "" {
				return "[]" + lost
			}
		}
	default:
		if before != after {
			return " (a value)"
		}
	}
	return ""
}

// TestDowngradeIsRefused shows that an older release does not cut the schemas of
// a newer one.
func TestDowngradeIsRefused(t *testing.T) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	key := client.ObjectKey{Name: "syncobjects.landscaper.gardener.cloud"}
	if err := cluster.Get(t.Context(), key, crd); err != nil {
		t.Fatal(err)
	}
	before, ours := crd.DeepCopy(), crd.Annotations[revisionAnnotation]
	crd.Annotations[revisionAnnotation] = "1000000"
	if err := cluster.Patch(t.Context(), crd, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	err := install.Run(t.Context(), cluster, install.Options{SourceNamespaces: sources}, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "a newer release of Landscaper installed it (API revision 1000000") {
		t.Errorf("got %v", err)
	}
	runInstall(t, cluster, install.Options{SourceNamespaces: sources, AllowDowngrade: true})
	if err := cluster.Get(t.Context(), key, crd); err != nil {
		t.Fatal(err)
	}
	if crd.Annotations[revisionAnnotation] != ours {
		t.Errorf("revision %s, want %s", crd.Annotations[revisionAnnotation], ours)
	}
}

// TestForeignVersionStays shows that a version which others added to a kind, and
// store objects in, is left alone.
func TestForeignVersionStays(t *testing.T) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	key := client.ObjectKey{Name: "criticalproblems.landscaper.gardener.cloud"}
	if err := cluster.Get(t.Context(), key, crd); err != nil {
		t.Fatal(err)
	}
	// A version in which objects are stored cannot be taken back.
	t.Cleanup(func() { reinstall(t, crd) })
	before, further := crd.DeepCopy(), crd.Spec.Versions[0].DeepCopy()
	further.Name = "v9"
	crd.Spec.Versions[0].Storage = false
	crd.Spec.Versions = append(crd.Spec.Versions, *further)
	if err := cluster.Patch(t.Context(), crd, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	runInstall(t, cluster, install.Options{SourceNamespaces: sources})
	if err := cluster.Get(t.Context(), key, crd); err != nil {
		t.Fatal(err)
	}
	if len(crd.Spec.Versions) != 2 || crd.Spec.Versions[0].Storage || !crd.Spec.Versions[1].Storage {
		t.Errorf("the versions have changed: %+v", crd.Spec.Versions)
	}
}

// reinstall puts a kind in anew, as the other tests expect it.
func reinstall(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	events, err := cluster.Watch(ctx, &apiextensionsv1.CustomResourceDefinitionList{}, client.MatchingFields{"metadata.name": crd.Name})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	if err := cluster.Delete(ctx, crd); err != nil {
		t.Fatal(err)
	}
	for event := range events.ResultChan() {
		if event.Type == watch.Deleted {
			break
		}
	}
	if err := install.Run(ctx, cluster, install.Options{SourceNamespaces: sources}, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
}

// TestObsoletePoliciesAreRemoved shows that rules of an older release do not stay
// in force.
func TestObsoletePoliciesAreRemoved(t *testing.T) {
	labels := map[string]string{"landscaper.gardener.cloud/component": "admission"}
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "old.landscaper.gardener.cloud", Labels: labels},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Create},
				Rule:       admissionv1.Rule{APIGroups: []string{"acme.example"}, APIVersions: []string{"v1"}, Resources: []string{"none"}},
			}}}},
			Validations: []admissionv1.Validation{{Expression: "true"}},
		},
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policy.Name, Labels: labels},
		Spec:       admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: policy.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}},
	}
	foreign := policy.DeepCopy()
	foreign.Name, foreign.Labels = "foreign.acme.example", nil
	for _, object := range []client.Object{policy, binding, foreign} {
		if err := cluster.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	runInstall(t, cluster, install.Options{SourceNamespaces: sources})
	for _, object := range []client.Object{policy, binding} {
		if err := cluster.Get(t.Context(), client.ObjectKeyFromObject(object), object); client.IgnoreNotFound(err) != nil || err == nil {
			t.Errorf("%T is still there (%v)", object, err)
		}
	}
	if err := cluster.Delete(t.Context(), foreign); err != nil {
		t.Errorf("the foreign policy: %v", err)
	}
}

func runInstall(t *testing.T, cluster client.WithWatch, options install.Options) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out bytes.Buffer
	if err := install.Run(ctx, cluster, options, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	return out.String()
}
