deployItems:
- name: namespace
  type: landscaper.gardener.cloud/kubernetes-manifest
  target: {import: cluster}
  config:
    apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
    kind: ProviderConfiguration
    manifests:
    - policy: manage
      manifest: {apiVersion: v1, kind: Namespace, metadata: {name: shop}}
