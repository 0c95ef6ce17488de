"""A video job with Python's requests: created, polled, downloaded."""
import os
import sys
import time

import requests

url = os.environ.get("SLUICE_URL", "http://127.0.0.1:8787/v1")
headers = {"Authorization": f"Bearer {os.environ['SLUICE_KEY']}"}

job = requests.post(
    f"{url}/videos",
    headers=headers,
    json={"model": "sluice/video", "prompt": "A lock gate opens", "duration": 4},
    timeout=30,
)
job.raise_for_status()
job = job.json()

for _ in range(300):
    if job["status"] not in ("pending", "in_progress"):
        break
    time.sleep(0.2)
    job = requests.get(job["polling_url"], headers=headers, timeout=30).json()

if job["status"] != "completed":
    sys.exit(f"{job['status']}: {job.get('error')}")
video = requests.get(job["unsigned_urls"][0], headers=headers, timeout=60)
video.raise_for_status()
print(f"{len(video.content)} bytes of {video.headers['content-type']}, {job['usage']['billed_seconds']} s billed")
