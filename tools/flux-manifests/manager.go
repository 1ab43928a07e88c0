package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// apis are the modules with the kinds of the controllers.
var apis = map[string]string{
	"source-controller":           "github.com/fluxcd/source-controller/api",
	"kustomize-controller":        "github.com/fluxcd/kustomize-controller/api",
	"helm-controller":             "github.com/fluxcd/helm-controller/api",
	"notification-controller":     "github.com/fluxcd/notification-controller/api",
	"image-reflector-controller":  "github.com/fluxcd/image-reflector-controller/api",
	"image-automation-controller": "github.com/fluxcd/image-automation-controller/api",
	"source-watcher":              "github.com/fluxcd/source-watcher/api/v2",
}

// derived says how the Deployment of a controller differs from that of another one. The
// modules of these controllers are not among those that can be had, but the Deployments
// of all controllers of Flux are alike.
type derived struct {
	from string
	// grace is how many seconds it has to end.
	grace int
	// volumeGroup says that its volumes belong to a group.
	volumeGroup bool
	// ports are those beside metrics and health, and data whether it has a volume for data.
	ports []port
	data  bool
	// services lead to the ports.
	services []service
}

type port struct {
	name   string
	number int
}

type service struct{ name, port string }

var derivations = map[string]derived{
	"helm-controller": {from: "kustomize-controller", grace: 600},
	"notification-controller": {
		from: "kustomize-controller", grace: 10, ports: []port{{"http", 9090}, {"http-webhook", 9292}},
		services: []service{{"notification-controller", "http"}, {"webhook-receiver", "http-webhook"}},
	},
	"image-reflector-controller":  {from: "kustomize-controller", grace: 10, volumeGroup: true, data: true},
	"image-automation-controller": {from: "kustomize-controller", grace: 10, volumeGroup: true},
	"source-watcher":              {from: "source-controller", grace: 10, volumeGroup: true, services: []service{{"source-watcher", "http"}}},
}

// manager writes the Deployment of a controller, and its Services.
func (b *bundle) manager(name, version, into string) error {
	if err := os.MkdirAll(into, 0o700); err != nil {
		return err
	}
	from, difference := name, derived{}
	if found, ok := derivations[name]; ok {
		from, difference = found.from, found
	}
	of, err := find(b.controllers, "github.com/fluxcd/"+from)
	if err != nil {
		return err
	}
	if from == name && of.Version != version {
		return fmt.Errorf("the release wants %s, %s has %s: change go.mod there", version, b.controllers, of.Version)
	}
	source := filepath.Join(of.Dir, "config", "manager")
	content, err := os.ReadFile(filepath.Join(source, "deployment.yaml"))
	if err != nil {
		return err
	}
	if from == name {
		if err := copyIfThere(filepath.Join(source, "service.yaml"), filepath.Join(into, "service.yaml")); err != nil {
			return err
		}
	} else if err := difference.write(name, into); err != nil {
		return err
	}
	text := strings.ReplaceAll(string(content), from, name)
	if err := os.WriteFile(filepath.Join(into, "deployment.yaml"), []byte(text), 0o600); err != nil {
		return err
	}
	more := fmt.Sprintf("images:\n- {name: fluxcd/%s, newTag: %s}\n", name, version)
	if from != name {
		more += "patches:\n- path: difference.json\n  target: {kind: Deployment}\n"
	}
	return kustomization(into, more)
}

func copyIfThere(from, to string) error {
	content, err := os.ReadFile(from)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o600)
}
