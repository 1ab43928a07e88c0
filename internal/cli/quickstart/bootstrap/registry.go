package bootstrap

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/base/yamltext"
)

// registryManifests are a registry without authentication and TLS, for tries.
const registryManifests = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: oci-registry-data, namespace: NAMESPACE}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 5Gi}}}
---
apiVersion: v1
kind: Service
metadata: {name: oci-registry, namespace: NAMESPACE}
spec:
  selector: {app: oci-registry}
  ports: [{name: http, port: 5000}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: oci-registry, namespace: NAMESPACE}
spec:
  selector: {matchLabels: {app: oci-registry}}
  template:
    metadata: {labels: {app: oci-registry}}
    spec:
      containers:
      - name: registry
        image: registry:2
        ports: [{containerPort: 5000}]
        volumeMounts: [{name: data, mountPath: /var/lib/registry}]
      volumes: [{name: data, persistentVolumeClaim: {claimName: oci-registry-data}}]
`

// Registry returns the objects of the registry.
func Registry(namespace string) ([]*unstructured.Unstructured, error) {
	documents, err := yamltext.Documents([]byte(strings.ReplaceAll(registryManifests, "NAMESPACE", namespace)), yamltext.Lenient())
	if err != nil {
		return nil, err // the text is above
	}
	objects := make([]*unstructured.Unstructured, len(documents))
	for i, document := range documents {
		raw, err := document.JSON()
		if err != nil {
			return nil, err // the text is above
		}
		objects[i] = &unstructured.Unstructured{}
		if err := objects[i].UnmarshalJSON(raw); err != nil {
			return nil, err
		}
	}
	return objects, nil
}
