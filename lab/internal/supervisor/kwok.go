package supervisor

import (
	"context"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/lab/internal/kube"
	"go.landscaper.dev/lab/internal/kwok"
	"go.landscaper.dev/lab/internal/podrunner"
	"go.landscaper.dev/lab/internal/process"
	"go.landscaper.dev/lab/internal/tools"
)

// upKwok gives a running cluster a scheduler and nodes on which pods run in
// appearance, and returns when the nodes are ready.
func (s *Supervisor) upKwok(ctx context.Context, c *cluster) error {
	scheduler, err := s.workshop.Ensure(ctx, tools.Scheduler)
	if err != nil {
		return err
	}
	built, err := s.workshop.Ensure(ctx, tools.Kwok)
	if err != nil {
		return err
	}
	config := c.path("kwok.yaml")
	if err := kwok.WriteConfig(built.Asset("kustomize"), config, podrunner.Programs()); err != nil {
		return err
	}
	nodes, err := kwok.Objects(built.Asset("kustomize"), s.config.KwokNodes)
	if err != nil {
		return err
	}
	if err := c.objects.Apply(ctx, nodes); err != nil {
		return err
	}
	own := append(os.Environ(), "HOME="+c.Directory) // the user's own settings do not count
	components, err := s.start(
		Spec{Name: c.Name + "/scheduler", Command: process.Command{
			Program: scheduler.Program("kube-scheduler"), Args: c.SchedulerArgs(),
			Env: os.Environ(), Dir: c.Directory, Log: s.instance.Log(c.Name + "/scheduler"),
		}},
		Spec{Name: c.Name + "/kwok", Ready: c.nodesReady, Command: process.Command{
			Program: built.Program("kwok"), Args: []string{
				"--kubeconfig=" + c.KubeconfigOf(kube.KwokUser),
				"--config=" + config,
				"--manage-nodes-with-annotation-selector=" + kwok.Selector,
				"--node-lease-duration-seconds=40",
			},
			Env: own, Dir: c.Directory, Log: s.instance.Log(c.Name + "/kwok"),
		}},
	)
	if err != nil {
		return err
	}
	if err := waitReady(ctx, components); err != nil {
		return fmt.Errorf("bring up the nodes of cluster %s: %w", c.Name, err)
	}
	return nil
}

// nodesReady looks for the taint too: without it, pods are scheduled.
func (c *cluster) nodesReady(ctx context.Context) error {
	nodes, err := c.objects.Clientset.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, node := range nodes.Items {
		if !nodeReady(node) {
			return fmt.Errorf("node %s is not ready", node.Name)
		}
	}
	return nil
}

func nodeReady(node corev1.Node) bool {
	if len(node.Spec.Taints) > 0 {
		return false
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
