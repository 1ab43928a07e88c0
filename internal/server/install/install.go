// Package install puts the CRDs and admission policies into a cluster, or brings
// them up to date, and waits until the API server serves them.
package install

import (
	"context"
	"fmt"
	"io"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/model/validation"
)

// fieldOwner is the field manager of the installer.
const fieldOwner = "landscaper"

// Options say what to install.
type Options struct {
	// SourceNamespaces are the namespaces from which Installations of other
	// namespaces may import Secrets and ConfigMaps.
	SourceNamespaces validation.SourceNamespaces
	// SkipPolicies installs the CRDs only.
	SkipPolicies bool
	// Delivery installs what the feature DeliveryPolicies needs, too.
	Delivery bool
	// Fleets installs what the feature Fleets needs, too.
	Fleets bool
	// AllowDowngrade replaces manifests that a newer release has installed.
	AllowDowngrade bool
}

// Scheme returns a scheme with the kinds that the installer writes.
func Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(apiextensionsv1.AddToScheme(scheme))
	return scheme
}

// Run installs or upgrades everything and returns when the API server serves it. It writes the
// result for each object to out. Running it again changes nothing.
func Run(ctx context.Context, cluster client.WithWatch, options Options, out io.Writer) error {
	crds, policies, err := options.manifests()
	if err != nil {
		return err
	}
	for _, crd := range crds {
		result, err := applyCRD(ctx, cluster, crd, options.AllowDowngrade)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "CustomResourceDefinition %s: %s\n", crd.Name, result)
	}
	if err := waitUntilServed(ctx, cluster, crds); err != nil {
		return err
	}
	if options.SkipPolicies {
		return nil
	}
	return applyPolicies(ctx, cluster, policies, out)
}

// manifests returns what is to be installed. The definitions of a feature that is off stay, because
// objects would be deleted with them; its policies go, because nothing reads what they protect.
func (o Options) manifests() (crds []*apiextensionsv1.CustomResourceDefinition, policies []*unstructured.Unstructured, err error) {
	if crds, err = CRDs(); err != nil {
		return nil, nil, err
	}
	if o.Fleets {
		more, err := FleetCRDs()
		if err != nil {
			return nil, nil, err
		}
		crds = append(crds, more...)
	}
	if policies, err = Policies(o.SourceNamespaces); err != nil || !o.Delivery {
		return crds, policies, err
	}
	more, err := DeliveryCRDs()
	if err != nil {
		return nil, nil, err
	}
	rules, err := DeliveryPolicies()
	return append(crds, more...), append(policies, rules...), err
}
