package main

// The modules that the manifests come from. Nothing of them runs: their versions are
// pinned by being imported, and their kinds are read as sources.
import (
	_ "github.com/fluxcd/helm-controller/api/v2"
	_ "github.com/fluxcd/helm-controller/api/v2beta1"
	_ "github.com/fluxcd/helm-controller/api/v2beta2"
	_ "github.com/fluxcd/image-automation-controller/api/v1"
	_ "github.com/fluxcd/image-automation-controller/api/v1beta1"
	_ "github.com/fluxcd/image-automation-controller/api/v1beta2"
	_ "github.com/fluxcd/image-reflector-controller/api/v1"
	_ "github.com/fluxcd/image-reflector-controller/api/v1beta1"
	_ "github.com/fluxcd/image-reflector-controller/api/v1beta2"
	_ "github.com/fluxcd/kustomize-controller/api/v1"
	_ "github.com/fluxcd/kustomize-controller/api/v1beta1"
	_ "github.com/fluxcd/kustomize-controller/api/v1beta2"
	_ "github.com/fluxcd/notification-controller/api/v1"
	_ "github.com/fluxcd/notification-controller/api/v1beta1"
	_ "github.com/fluxcd/notification-controller/api/v1beta2"
	_ "github.com/fluxcd/notification-controller/api/v1beta3"
	_ "github.com/fluxcd/source-controller/api/v1"
	_ "github.com/fluxcd/source-controller/api/v1beta1"
	_ "github.com/fluxcd/source-controller/api/v1beta2"
	_ "github.com/fluxcd/source-watcher/api/v2/v1beta1"
)
