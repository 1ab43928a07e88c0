package podrunner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// volume makes a directory with the content of a volume. Unlike a kubelet, it writes the content
// once; so a token has to be good for as long as the pod lives.
func (r *Runner) volume(ctx context.Context, pod *corev1.Pod, volume corev1.Volume, directory string) error {
	files := map[string][]byte{}
	var err error
	switch {
	case volume.EmptyDir != nil:
		return errors.Join(os.MkdirAll(directory, 0o777), os.Chmod(directory, 0o777))
	case volume.ConfigMap != nil:
		source := volume.ConfigMap
		err = r.configMap(ctx, pod, files, source.Name, source.Items, source.Optional)
	case volume.Secret != nil:
		source := volume.Secret
		err = r.secret(ctx, pod, files, source.SecretName, source.Items, source.Optional)
	case volume.Projected != nil:
		for _, source := range volume.Projected.Sources {
			err = errors.Join(err, r.projection(ctx, pod, files, source))
		}
	default:
		err = errors.New("the lab has volumes of the kinds configMap, secret, emptyDir and projected")
	}
	if err != nil {
		return fmt.Errorf("volume %s: %w", volume.Name, err)
	}
	for name, content := range files {
		file := filepath.Join(directory, filepath.Clean("/"+name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, content, 0o644)); err != nil {
			return fmt.Errorf("volume %s: %w", volume.Name, err)
		}
	}
	return os.MkdirAll(directory, 0o755)
}

func (r *Runner) projection(ctx context.Context, pod *corev1.Pod, files map[string][]byte, source corev1.VolumeProjection) error {
	switch {
	case source.ConfigMap != nil:
		return r.configMap(ctx, pod, files, source.ConfigMap.Name, source.ConfigMap.Items, source.ConfigMap.Optional)
	case source.Secret != nil:
		return r.secret(ctx, pod, files, source.Secret.Name, source.Secret.Items, source.Secret.Optional)
	case source.ServiceAccountToken != nil:
		var audiences []string
		if audience := source.ServiceAccountToken.Audience; audience != "" {
			audiences = []string{audience}
		}
		token, err := r.tokenFor(ctx, pod, audiences)
		files[source.ServiceAccountToken.Path] = []byte(token)
		return err
	case source.DownwardAPI != nil:
		for _, item := range source.DownwardAPI.Items {
			if item.FieldRef == nil {
				return fmt.Errorf("file %s: the lab knows fields of the pod, and no resources", item.Path)
			}
			files[item.Path] = []byte(fields(pod)[item.FieldRef.FieldPath])
		}
		return nil
	}
	return errors.New("the lab projects configMap, secret, serviceAccountToken and downwardAPI")
}

func (r *Runner) configMap(ctx context.Context, pod *corev1.Pod, files map[string][]byte, name string, items []corev1.KeyToPath, optional *bool) error {
	object, err := r.Client.CoreV1().ConfigMaps(pod.Namespace).Get(ctx, name, metav1.GetOptions{})
	if absent(err, optional) {
		return nil
	}
	if err != nil {
		return err // names the ConfigMap
	}
	content := map[string][]byte{}
	for key, value := range object.Data {
		content[key] = []byte(value)
	}
	for key, value := range object.BinaryData {
		content[key] = value
	}
	return choose(files, content, items, optional)
}

func (r *Runner) secret(ctx context.Context, pod *corev1.Pod, files map[string][]byte, name string, items []corev1.KeyToPath, optional *bool) error {
	object, err := r.Client.CoreV1().Secrets(pod.Namespace).Get(ctx, name, metav1.GetOptions{})
	if absent(err, optional) {
		return nil
	}
	if err != nil {
		return err // names the Secret
	}
	return choose(files, object.Data, items, optional)
}

func absent(err error, optional *bool) bool {
	return apierrors.IsNotFound(err) && optional != nil && *optional
}

// choose adds the keys that are asked for, or all.
func choose(files, content map[string][]byte, items []corev1.KeyToPath, optional *bool) error {
	if len(items) == 0 {
		for key, value := range content {
			files[key] = value
		}
	}
	for _, item := range items {
		value, found := content[item.Key]
		if !found && (optional == nil || !*optional) {
			return fmt.Errorf("key %q is missing", item.Key)
		}
		if found {
			files[item.Path] = value
		}
	}
	return nil
}

// tokenFor gets a token of the pod's service account.
func (r *Runner) tokenFor(ctx context.Context, pod *corev1.Pod, audiences []string) (string, error) {
	seconds := int64(24 * 60 * 60)
	token, err := r.Client.CoreV1().ServiceAccounts(pod.Namespace).CreateToken(ctx, pod.Spec.ServiceAccountName, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{
			ExpirationSeconds: &seconds, Audiences: audiences,
			BoundObjectRef: &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod.Name, UID: pod.UID},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("get a token of service account %s/%s: %w", pod.Namespace, pod.Spec.ServiceAccountName, err)
	}
	return token.Status.Token, nil
}
