// Package kwok configures KWOK, which plays the kubelets of nodes that do not
// exist: pods on them become ready, and those of Jobs complete.
package kwok

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// stages say how nodes, pods and volumes progress; they come with KWOK.
var stages = []string{
	"stage/node/fast/node-initialize.yaml",
	"stage/node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
	"stage/pod/fast/pod-ready.yaml",
	"stage/pod/fast/pod-complete.yaml",
	"stage/pod/fast/pod-delete.yaml",
	"stage/volume/fast/pv-bind.yaml",
	"stage/volume/fast/pv-delete.yaml",
	"stage/volume/fast/pvc-delete.yaml",
	"stage/volume/fast/pvc-provision.yaml",
}

// podReady is the stage that must leave some pods alone.
const podReady = "stage/pod/fast/pod-ready.yaml"

// storageClass is what claims are provisioned from.
const storageClass = "stage/volume/fast/storage-class.yaml"

// WriteConfig collects the stages from KWOK's manifests into a file. Pods with
// a container of one of the programs are not simulated: the lab runs them.
func WriteConfig(manifests, file string, programs []string) error {
	var config bytes.Buffer
	for _, name := range stages {
		stage, err := os.ReadFile(filepath.Join(manifests, name))
		if err != nil {
			return fmt.Errorf("read a stage of KWOK: %w", err)
		}
		if name == podReady {
			if stage, err = except(stage, programs); err != nil {
				return fmt.Errorf("adapt %s: %w", name, err)
			}
		}
		config.WriteString("---\n")
		config.Write(stage)
		config.WriteString("\n")
	}
	if err := os.WriteFile(file, config.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write KWOK's configuration: %w", err)
	}
	return nil
}

// except adds a condition to a stage: no container's image is one of the programs.
func except(stage []byte, programs []string) ([]byte, error) {
	var content map[string]any
	if err := yaml.Unmarshal(stage, &content); err != nil {
		return nil, err
	}
	spec, _ := content["spec"].(map[string]any)
	selector, _ := spec["selector"].(map[string]any)
	expressions, _ := selector["matchExpressions"].([]any)
	if expressions == nil {
		return nil, fmt.Errorf("it has no spec.selector.matchExpressions")
	}
	selector["matchExpressions"] = append(expressions, map[string]any{
		"key":      fmt.Sprintf(`[.spec.containers[].image | test("(^|/)(%s)(:|@|$)")] | any | tostring`, strings.Join(programs, "|")),
		"operator": "In",
		"values":   []any{"false"},
	})
	return yaml.Marshal(content)
}

// Objects are the manifests of the nodes and the storage class.
func Objects(manifests string, nodes int) ([]byte, error) {
	class, err := os.ReadFile(filepath.Join(manifests, storageClass))
	if err != nil {
		return nil, fmt.Errorf("read the storage class of KWOK: %w", err)
	}
	objects := bytes.NewBuffer(class)
	for i := range nodes {
		fmt.Fprintf(objects, node, NodeName(i))
	}
	return objects.Bytes(), nil
}

// NodeName is the name of the ith node.
func NodeName(i int) string { return fmt.Sprintf("node-%d", i) }

// Selector is the annotation by which KWOK knows the nodes that it plays.
const Selector = "kwok.x-k8s.io/node=fake"

const node = `
---
apiVersion: v1
kind: Node
metadata:
  name: %[1]s
  annotations:
    kwok.x-k8s.io/node: fake
    node.alpha.kubernetes.io/ttl: "0"
  labels:
    kubernetes.io/hostname: %[1]s
    kubernetes.io/os: linux
    kubernetes.io/arch: amd64
    beta.kubernetes.io/os: linux
    beta.kubernetes.io/arch: amd64
`
