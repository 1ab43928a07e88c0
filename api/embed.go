// Package api embeds the manifests that make an API server serve our kinds: the
// CRDs and the admission policies. Both are generated.
package api

import "embed"

// CRDs holds the CustomResourceDefinitions, one file per kind.
//
//go:embed crds/*.yaml
var CRDs embed.FS

// Policies holds the ValidatingAdmissionPolicies and their bindings, one file per
// policy.
//
//go:embed policies/*.yaml
var Policies embed.FS

// DeliveryCRDs holds the CustomResourceDefinitions of the group delivery.landscaper.dev, which are
// installed where its feature is on.
//
//go:embed delivery/crds/*.yaml
var DeliveryCRDs embed.FS

// FleetCRDs holds the CustomResourceDefinitions of the group fleet.landscaper.dev, which are installed where
// its feature is on.
//
//go:embed fleet/crds/*.yaml
var FleetCRDs embed.FS

// DeliveryPolicies holds the ValidatingAdmissionPolicies of that feature.
//
//go:embed delivery/policies/*.yaml
var DeliveryPolicies embed.FS
