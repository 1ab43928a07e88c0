package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

const (
	pod       = "/spec/template/spec"
	container = pod + "/containers/0"
)

// write writes the difference as a patch for the Deployment, and the Services.
func (d derived) write(name, into string) error {
	patch := []any{operation("replace", pod+"/terminationGracePeriodSeconds", d.grace)}
	if !d.volumeGroup {
		patch = append(patch, operation("remove", pod+"/securityContext", nil))
	}
	if d.data {
		patch = append(patch,
			operation("add", container+"/volumeMounts/-", map[string]any{"name": "data", "mountPath": "/data"}),
			operation("add", pod+"/volumes/-", map[string]any{"name": "data", "emptyDir": map[string]any{}}))
	}
	for i, port := range d.ports {
		patch = append(patch, operation("add", fmt.Sprintf("%s/ports/%d", container, i), map[string]any{"containerPort": port.number, "name": port.name, "protocol": "TCP"}))
	}
	if d.from == "source-controller" {
		// The Deployment of the source controller names the directory of the certificate
		// authorities for signatures, and no other controller checks signatures.
		patch = append(patch, operation("remove", container+"/env/1", nil))
	}
	encoded, err := json.MarshalIndent(patch, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(into, "difference.json"), encoded, 0o600); err != nil {
		return err
	}
	for _, service := range d.services {
		text := fmt.Sprintf(`apiVersion: v1
kind: Service
metadata:
  name: %s
  labels: {control-plane: controller}
spec:
  type: ClusterIP
  selector: {app: %s}
  ports:
  - {name: http, port: 80, protocol: TCP, targetPort: %s}
`, service.name, name, service.port)
		if err := os.WriteFile(filepath.Join(into, "service-"+service.name+".yaml"), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func operation(op, path string, value any) map[string]any {
	made := map[string]any{"op": op, "path": path}
	if op != "remove" {
		made["value"] = value
	}
	return made
}
