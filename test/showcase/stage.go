// Package showcase plays the examples with kustomize and Flux on the clusters of a lab:
// it publishes their files in a Git repository, runs their scripts, shows what is on the
// clusters, and says how that differs from what should be there. The demo and the tests
// of the examples do the same.
package showcase

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

// Namespaces of the examples.
const (
	InstallationNamespace = "cu-example"
	FluxNamespace         = "flux-system"
)

// Stage is what an example is played on.
type Stage struct {
	// Resource, Flux and Workload are kubeconfigs of the cluster with the
	// Installations, of that on which Flux runs, and of that to which Flux deploys.
	Resource, Flux, Workload string
	// Registry is where components go.
	Registry string
	// Repository is where Flux gets its files from.
	Repository *Repository
	// Version is the version of the component; 1.0.0 if empty.
	Version string
	// Settings are more settings of an example, as NAME=value.
	Settings []string
}

// Prepare makes the namespaces that an example needs.
func (s *Stage) Prepare(ctx context.Context, workloadNamespace string) error {
	for _, space := range []struct{ kubeconfig, name string }{
		{s.Resource, InstallationNamespace}, {s.Flux, FluxNamespace}, {s.Workload, workloadNamespace},
	} {
		cluster, err := landscape.Connect(space.kubeconfig)
		if err != nil {
			return err
		}
		err = cluster.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: space.name}})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create namespace %s: %w", space.name, err)
		}
	}
	return nil
}

// Script runs a script of an example, with the settings of the stage.
func (s *Stage) Script(ctx context.Context, example, name string, output io.Writer) error {
	root, err := lab.Root()
	if err != nil {
		return err
	}
	return s.run(ctx, output, filepath.Join(root, "examples", "kustomize", example, "commands", name))
}

// Wait waits until the newest jobs of Installations have succeeded, and reports how far they are.
func (s *Stage) Wait(ctx context.Context, progress io.Writer, installations ...string) error {
	return s.WaitIn(ctx, progress, InstallationNamespace, installations...)
}

// WaitIn is Wait for Installations of another namespace.
func (s *Stage) WaitIn(ctx context.Context, progress io.Writer, namespace string, installations ...string) error {
	args := append([]string{"installations", "wait"}, installations...)
	err := s.run(ctx, progress, "landscaper-cli", append(args, "-n", namespace, "--timeout", "3m", "--kubeconfig", s.Resource)...)
	var failure *commandError
	if errors.As(err, &failure) {
		// The lines before were the progress.
		failure.said = failure.said[strings.LastIndexByte(failure.said, '\n')+1:]
	}
	return err
}

// run runs a program with the environment of the stage. What it says is part of the
// error.
func (s *Stage) run(ctx context.Context, output io.Writer, program string, args ...string) error {
	clients, err := clients()
	if err != nil {
		return err
	}
	if found := clients[program]; found != "" {
		program = found
	}
	path := []string{"PATH=" + os.Getenv("PATH")}
	for _, found := range clients {
		path[0] += string(os.PathListSeparator) + filepath.Dir(found)
	}
	var said strings.Builder
	command := exec.CommandContext(ctx, program, args...)
	command.Env = slices.Concat(os.Environ(), s.settings(), path)
	command.Stdout, command.Stderr = io.MultiWriter(output, &said), io.MultiWriter(output, &said)
	if err := command.Run(); err != nil {
		return &commandError{filepath.Base(program), err, strings.TrimSpace(said.String())}
	}
	return nil
}

// commandError is a command that has failed, with what it has said.
type commandError struct {
	program string
	cause   error
	said    string
}

// Error implements error.
func (e *commandError) Error() string { return fmt.Sprintf("%s: %v: %s", e.program, e.cause, e.said) }

// Unwrap returns how the command has ended.
func (e *commandError) Unwrap() error { return e.cause }

// settings are what the scripts read from their environment.
func (s *Stage) settings() []string {
	version := s.Version
	if version == "" {
		version = "1.0.0"
	}
	settings := []string{
		"RESOURCE_CLUSTER_KUBECONFIG_PATH=" + s.Resource,
		"TARGET_CLUSTER_KUBECONFIG_PATH=" + s.Flux,
		"TARGET_CLUSTER_KUBECONFIG_PATH_2=" + s.Workload,
		"REPO_BASE_URL=" + s.Registry,
		"COMPONENT_VERSION=" + version,
	}
	if s.Repository != nil {
		settings = append(settings, "GIT_URL="+s.Repository.URL, "GIT_COMMIT="+s.Repository.Commit, "GIT_TAG="+s.Repository.Tag)
	}
	return append(settings, s.Settings...)
}

// Clusters are the kubeconfigs of the stage, each cluster once.
func (s *Stage) Clusters() []string {
	return slices.Compact([]string{s.Resource, s.Flux, s.Workload})
}

// CheckToken compares the token in the ConfigMap of the data flow with that in the Secret. It shows
// neither.
func (s *Stage) CheckToken(ctx context.Context) error {
	cluster, err := landscape.Connect(s.Workload)
	if err != nil {
		return err
	}
	secret, config := &corev1.Secret{}, &corev1.ConfigMap{}
	if err := cluster.Get(ctx, key("test-secret"), secret); err != nil {
		return fmt.Errorf("read the Secret with the token: %w", err)
	}
	if err := cluster.Get(ctx, key("test-configmap"), config); err != nil {
		return fmt.Errorf("read the ConfigMap that should have the token: %w", err)
	}
	switch token := config.Data["token"]; {
	case len(secret.Data["token"]) == 0:
		return errors.New("the Secret test-secret has no token")
	case token != string(secret.Data["token"]):
		return errors.New("the token of ConfigMap test-configmap is not that of Secret test-secret")
	}
	return nil
}
