package fakeapi

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/index"
)

// New returns an API server in memory.
func New(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{AddCore, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithIndex(&v1alpha1.Installation{}, index.ByParent, index.ParentOf).WithIndex(&v1alpha1.Installation{}, index.Waiting, index.WaitsAs).
		WithIndex(&v1alpha1.Installation{}, index.ByApproval, index.ApprovedFor).
		WithIndex(&v1alpha1.DataObject{}, index.CopiesByScope, index.ScopeOf).WithIndex(&v1alpha1.Target{}, index.CopiesByScope, index.ScopeOf).
		WithIndex(&v1alpha1.DataObject{}, index.ExportsBySource, index.SourceOf).WithIndex(&v1alpha1.Target{}, index.ExportsBySource, index.SourceOf).
		WithInterceptorFuncs(interceptor.Funcs{List: ListReversed}).Build()
}

// ListReversed lists objects in the opposite order of their names: a cache has none at all, and
// nothing may depend on it.
func ListReversed(ctx context.Context, from client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
	if err := from.List(ctx, list, options...); err != nil {
		return err
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		return err
	}
	slices.Reverse(items)
	return meta.SetList(list, items)
}

// AddCore adds what we use of Kubernetes to a scheme: the API server in memory is the
// faster the less it knows.
func AddCore(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(corev1.SchemeGroupVersion, &corev1.Secret{}, &corev1.SecretList{}, &corev1.ConfigMap{}, &corev1.ConfigMapList{})
	metav1.AddToGroupVersion(scheme, corev1.SchemeGroupVersion)
	return nil
}
