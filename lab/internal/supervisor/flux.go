package supervisor

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/lab/internal/tools"
)

//go:embed flux.yaml
var fluxManifests []byte

const fluxNamespace = "flux-system"

// upFlux installs the Flux controllers in a running cluster and returns when
// they are available.
func (s *Supervisor) upFlux(ctx context.Context, c *cluster) error {
	for _, tool := range []tools.Tool{tools.SourceController, tools.KustomizeController} {
		built, err := s.workshop.Ensure(ctx, tool)
		if err != nil {
			return err
		}
		if err := c.applyAll(ctx, built.Asset("crds")); err != nil {
			return fmt.Errorf("apply the kinds of Flux to cluster %s: %w", c.Name, err)
		}
	}
	if err := c.objects.Apply(ctx, fluxManifests); err != nil {
		return fmt.Errorf("apply Flux to cluster %s: %w", c.Name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for {
		err := c.available(ctx, fluxNamespace)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for Flux in cluster %s: %w", c.Name, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// applyAll applies all files of a directory.
func (c *cluster) applyAll(ctx context.Context, directory string) error {
	files, err := filepath.Glob(filepath.Join(directory, "*.yaml"))
	if err != nil {
		return err
	}
	for _, file := range files {
		manifests, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := c.objects.Apply(ctx, manifests); err != nil {
			return err
		}
	}
	return nil
}

// available is nil when all Deployments of a namespace have their replicas.
func (c *cluster) available(ctx context.Context, namespace string) error {
	deployments, err := c.objects.Clientset.AppsV1().Deployments(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, deployment := range deployments.Items {
		if deployment.Status.AvailableReplicas < *deployment.Spec.Replicas {
			return fmt.Errorf("deployment %s is not available", deployment.Name)
		}
	}
	return nil
}
