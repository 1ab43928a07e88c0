package apply

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func asStatus(err error) (apierrors.APIStatus, bool) {
	var status apierrors.APIStatus
	ok := errors.As(err, &status)
	return status, ok
}
