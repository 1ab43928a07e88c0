package podrunner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// mounts are directories that stand for the Secrets which a container mounts, by the
// paths in the container.
type mounts map[string]string

// mount writes the Secrets that a container mounts into a directory of its pod. Unlike a
// kubelet, it does so once.
func (r *Runner) mount(ctx context.Context, pod *corev1.Pod, container corev1.Container, directory string) (mounts, error) {
	secrets := map[string]string{}
	for _, volume := range pod.Spec.Volumes {
		if volume.Secret != nil {
			secrets[volume.Name] = volume.Secret.SecretName
		}
	}
	all := mounts{}
	for _, mount := range container.VolumeMounts {
		name, known := secrets[mount.Name]
		if !known {
			continue
		}
		secret, err := r.Client.CoreV1().Secrets(pod.Namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, fmt.Errorf("mount Secret %s/%s: %w", pod.Namespace, name, err)
		}
		local := filepath.Join(directory, "mounts", mount.Name)
		if err := os.MkdirAll(local, 0o700); err != nil {
			return nil, fmt.Errorf("mount Secret %s/%s: %w", pod.Namespace, name, err)
		}
		for key, value := range secret.Data {
			if err := os.WriteFile(filepath.Join(local, key), value, 0o600); err != nil {
				return nil, fmt.Errorf("mount Secret %s/%s: %w", pod.Namespace, name, err)
			}
		}
		all[strings.TrimSuffix(mount.MountPath, "/")+"/"] = local + "/"
	}
	return all, nil
}

// local is where a path of the container is on this machine. Other text stays.
func (m mounts) local(text string) string {
	for path, local := range m {
		if rest, below := strings.CutPrefix(text, path); below {
			return local + rest
		}
	}
	return text
}
